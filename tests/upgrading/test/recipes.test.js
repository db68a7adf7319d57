// Every program of UPGRADING.md, run in the order in which it stands there: the old package writes, and Terrace reads.

import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { expectOutput, root } from '../../support/projects.mjs'

const old = fileURLToPath(new URL('../node_modules', import.meta.url))
const ours = join(root, 'node_modules')

/** What each section's programs may import, by the name in the program, and the versions of it that they are run with. */
const SECTIONS = {
  'level and classic-level': { level: ['level', 'level-8'], 'classic-level': ['classic-level'] },
  'level 7 and older': { level: ['level-7'] },
  'levelup with leveldown': { levelup: ['levelup'], leveldown: ['leveldown'] },
  subleveldown: { level: ['level-7'], subleveldown: ['subleveldown'] },
  lmdb: { lmdb: ['lmdb'], msgpackr: ['msgpackr'] }
}

const guide = readFileSync(join(root, 'UPGRADING.md'), 'utf8')
const programs = programsOf(guide)

/** The programs of the guide, in order: `{ section, name, text, output }`. */
function programsOf(text) {
  return text.split(/^## /m).flatMap((part) =>
    [...part.matchAll(/^```js\n\/\/ (\S+)\n(.*?)^```$/gms)].map(([, name, text]) => ({
      section: part.slice(0, part.indexOf('\n')),
      name,
      text,
      output: [...text.matchAll(/\/\/ prints: (.*)$/gm)].map(([, line]) => `${line}\n`).join('')
    }))
  )
}

/** A directory whose `node_modules` has our packages and these of others. */
function makeDirectory(t, packages) {
  const directory = mkdtempSync(join(tmpdir(), 'terrace-upgrading-'))
  t.after(() => rmSync(directory, { recursive: true }))
  const links = { ...packages }
  for (const name of ['terrace', 'terrace-bytewise']) links[name] = join(ours, name)
  for (const [name, target] of Object.entries(links)) {
    const link = join(directory, 'node_modules', name)
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(target, link, 'junction')
  }
  return directory
}

/** Every choice of one version of each package, as an object from names to directories. */
function choices(packages) {
  return Object.entries(packages).reduce(
    (all, [name, versions]) =>
      all.flatMap((each) => versions.map((version) => ({ ...each, [name]: join(old, version) }))),
    [{}]
  )
}

test('each program of the guide is in a section that is run', () => {
  assert.equal(guide.match(/^```js$/gm).length, programs.length)
  assert.deepEqual([...new Set(programs.map(({ section }) => section))], Object.keys(SECTIONS))
})

for (const [section, packages] of Object.entries(SECTIONS)) {
  for (const links of choices(packages)) {
    const versions = Object.values(links).map(versionOf).join(', ')
    test(`${section}: ${versions}`, (t) => {
      const directory = makeDirectory(t, links)
      const wanted = programs.filter((program) => program.section === section)
      assert.ok(wanted.some(({ name, output }) => name.startsWith('after') && output !== ''))
      for (const { name, text, output } of wanted) {
        writeFileSync(join(directory, name), text)
        expectOutput(directory, name, output)
      }
    })
  }
}

function versionOf(directory) {
  const { name, version } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'))
  return `${name} ${version}`
}
