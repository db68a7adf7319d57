// Kills Node processes that write with `Level`, at random moments, and checks what they left.
//
//   kill-trials.js [--seed N] [--kills N]
//
// Prints what was done as one line of JSON. After a broken promise it exits with 1, and the directory stays.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { LevelDB, reasonWithout } from './kills/leveldb.js'
import { Trial } from './kills/trial.js'

/** After this many kills a new database begins, with the next seed. */
const KILLS_A_TRIAL = 10

/** Runs trials until there were this many kills. Returns what was done, by name. Rejects if a promise was broken. */
export async function killTrials({ seed, kills }) {
  const reason = reasonWithout()
  if (reason) console.error(reason)
  const leveldb = reason ? undefined : new LevelDB()
  const counts = { seeds: 0 }

  try {
    for (let left = kills; left > 0; left -= KILLS_A_TRIAL) {
      const done = await runTrial(seed + counts.seeds++, Math.min(left, KILLS_A_TRIAL), leveldb)
      for (const name in done) counts[name] = (counts[name] ?? 0) + done[name]
    }
  } finally {
    leveldb?.close()
  }

  return counts
}

async function runTrial(seed, kills, leveldb) {
  const directory = mkdtempSync(join(tmpdir(), 'terrace-kills-'))
  const trial = new Trial(seed, directory, leveldb)

  try {
    for (let kill = 0; kill < kills; kill++) await trial.kill()
  } catch (error) {
    const details = `--seed ${seed}, kill ${trial.counts.kills}, the directory is kept: ${directory}`
    throw new Error(`${error.message} (${details})`, { cause: error })
  }

  rmSync(directory, { recursive: true })
  return trial.counts
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({ options: { seed: { type: 'string' }, kills: { type: 'string' } } })
  const counts = await killTrials({
    seed: Number(values.seed ?? Date.now()),
    kills: Number(values.kills ?? 50)
  })
  console.log(JSON.stringify(counts))
}
