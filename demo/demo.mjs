// The main job on real input: a browser's databases and one of our own. LevelDB opens each of them, too.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { showChromium } from './chromium.mjs'
import { showMillion } from './million.mjs'
import { bold, heading, note, number, row } from './screen.mjs'

const temporary = await mkdtemp(path.join(tmpdir(), 'terrace-demo-'))
try {
  console.log(`\n${bold('Terrace')}: LevelDB's files, an engine of its own, abstract-level's API`)
  note(`in ${temporary}, which is removed at the end`)
  await showChromium(temporary)
  const rates = await showMillion(temporary)
  heading('Rates on this machine, one JavaScript thread')
  for (const [label, rate] of rates) row(label, `${number(rate)} entries a second`)
  console.log('')
} finally {
  await rm(temporary, { recursive: true })
}
