// Runs a program on leveldown 6.1.1 and on Terrace. Both must print the same, and leave the same entries.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { environment, root } from '../../../../support/projects.mjs'
import { HANG_MS } from '../../../../support/waiting.mjs'

/** Where the packages of npm are, and where ours are among them. */
export const TREES = {
  original: fileURLToPath(new URL('../..', import.meta.url)),
  terrace: join(root, 'target', 'leveldown-clients')
}

/** What each tree needs for ranges by `start` and `end`. */
export const LEGACY = {
  [TREES.original]: ['--require', join(TREES.original, 'programs', 'support', 'legacy.js')],
  [TREES.terrace]: []
}

const original = createRequire(import.meta.url)('leveldown-original')
const ours = createRequire(join(TREES.terrace, 'package.json'))('terrace-leveldown')

/**
 * Runs a program of `programs/` in an empty directory of each tree.
 *
 * @param {import('node:test').TestContext} t
 * @param {string} file
 * @param {string[]} args
 * @returns {Promise<string>} What it printed.
 */
export async function both(t, file, ...args) {
  const [expected, actual] = await outcomesOf(t, file, args)
  assert.deepEqual(actual.entries, expected.entries)
  return expected.printed
}

/** The same for a program that writes random identifiers or times: only what it prints is compared. */
export async function bothPrint(t, file, ...args) {
  const [{ printed }] = await outcomesOf(t, file, args)
  return printed
}

async function outcomesOf(t, file, args) {
  const [expected, actual] = await Promise.all(
    Object.values(TREES).map((tree) => outcome(t, [...LEGACY[tree], join(tree, 'programs', file), ...args]))
  )
  assert.equal(expected.failure, undefined)
  assert.equal(actual.failure, undefined)
  assert.deepEqual(actual.printed.split('\n'), expected.printed.split('\n'))
  return [expected, actual]
}

async function outcome(t, args) {
  const directory = mkdtempSync(join(tmpdir(), 'terrace-leveldown-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  const { status, stdout, stderr } = await ran(args, directory)
  const failure =
    status === 0 && stderr === ''
      ? undefined
      : `${args.join(' ')}: ${status}\n${stderr}${stdout.slice(-2000)}`
  return { failure, printed: stdout, entries: failure ? {} : await entriesOf(directory) }
}

/** Runs node in `directory`. */
export function ran(args, directory, options = {}) {
  return new Promise((resolve) => {
    const child = spawn(
      process.execPath,
      ['--no-deprecation', '--disable-warning=ExperimentalWarning', ...args],
      {
        cwd: directory,
        env: environment,
        timeout: HANG_MS,
        stdio: ['ignore', 'pipe', 'pipe'],
        ...options
      }
    )
    let [stdout, stderr] = ['', '']
    child.stdout.on('data', (text) => (stdout += text))
    child.stderr.on('data', (text) => (stderr += text))
    child.on('close', (status, signal) => resolve({ status: status ?? signal, stdout, stderr }))
  })
}

/** The number of entries, and a hash of them, of every database below a directory. leveldown and Terrace must read the same. */
async function entriesOf(directory) {
  const found = {}
  for (const each of readdirSync(directory, { recursive: true })) {
    const location = join(directory, each)
    if (!existsSync(join(location, 'CURRENT'))) continue
    found[each] = await entriesIn(original, location)
    assert.deepEqual(await entriesIn(ours, location), found[each])
  }
  return found
}

async function entriesIn(leveldown, location) {
  const db = leveldown(location)
  const call = (object, method, ...args) =>
    new Promise((resolve, reject) => {
      object[method](...args, (error, ...values) => (error ? reject(error) : resolve(values)))
    })
  await call(db, 'open', { createIfMissing: false })
  const hash = createHash('sha256')
  const iterator = db.iterator()
  let count = 0
  for (;;) {
    const [key, value] = await call(iterator, 'next')
    if (key === undefined) break
    hash.update(`${key.length} ${value.length} `).update(key).update(value)
    count++
  }
  await call(iterator, 'end')
  await call(db, 'close')
  return `${count} ${hash.digest('hex')}`
}
