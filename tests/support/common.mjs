// Runs the tests of terrace-core and of the toolbox over a database. What a test says of the database counts, whatever the file it
// is in.

import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { isShort } from './form.mjs'
import { judge } from './known.mjs'
import { memoryDirectory } from './memory-directory.mjs'

const packages = fileURLToPath(new URL('../../packages', import.meta.url))
const reporter = new URL('outcomes-reporter.mjs', import.meta.url).href
/** A file of tests that waits for ever must not keep the others from being counted. */
const FILE_TIMEOUT_MS = 1_800_000

/**
 * The parts whose tests run over any database: each has a `directory` of tests, of which `least` pass over any. It must refuse a
 * database that lacks one of what it `needs`, with an error of this code. ` or ` stands between what may replace each other.
 */
export const PARTS = {
  core: { directory: 'core/test', least: 70, needs: {} },
  index: { directory: 'toolbox/test/index', least: 35, needs: { everyWrite: 'TOOLBOX_SHARED' } },
  transaction: {
    directory: 'toolbox/test/transaction',
    least: 36,
    needs: { 'everyWrite or conditionalWrites': 'TOOLBOX_SHARED' }
  },
  ttl: { directory: 'toolbox/test/ttl', least: 36, needs: { everyWrite: 'TOOLBOX_SHARED' } },
  feed: { directory: 'toolbox/test/feed', least: 40, needs: { everyWrite: 'TOOLBOX_SHARED' } },
  lock: { directory: 'toolbox/test/lock', least: 3, needs: { everyWrite: 'TOOLBOX_SHARED' } },
  streams: { directory: 'toolbox/test/streams', least: 18, needs: {} }
}

/** The code with which a part must refuse a database that `supports` this; undefined if it must not. */
export function refusalOf(part, supports) {
  const isMissing = ([what]) => !what.split(' or ').some((each) => supports[each])
  return Object.entries(PARTS[part].needs).find(isMissing)?.[1]
}

/**
 * What tests run over.
 *
 * @typedef {object} Tested
 * @property {string} name - The database's, as it is in names of tests.
 * @property {string} module - The URL of a module that exports the class `Database`, its `name`, and what it can do, see
 * packages/core/test/support/databases.js.
 * @property {{ everyWrite: boolean, getSync: boolean }} supports - What the database must say of itself.
 * @property {Record<string, import('./known.mjs').Known[]>} known - The tests of each part that do not hold for it.
 * @property {Record<string, string>} [environment] - What to add to the environment of the tests.
 * @property {number} [timeoutMs] - How long a file of tests may take, if more than usual.
 */

/**
 * Runs the tests of one part in separate processes.
 *
 * @param {Tested} tested
 * @returns The counts, see `judge()`, the seconds it took, and what was printed as errors.
 */
export async function runPart(part, tested) {
  const { name, module, environment = {}, timeoutMs = FILE_TIMEOUT_MS } = tested
  const { [part]: known = [] } = tested.known
  const { directory, least } = PARTS[part]
  const path = join(packages, directory)
  const isRun = (file) => file.endsWith('.test.js') && !(isShort && file.endsWith('.long.test.js'))
  const files = readdirSync(path).filter(isRun)
  // Writes that wait for the disk make these tests long, and they are not about it.
  const temporary = mkdtempSync(join(memoryDirectory(), 'terrace-common-'))
  const begun = performance.now()
  try {
    const child = spawn(
      process.execPath,
      [
        '--expose-gc',
        '--test',
        '--test-concurrency=2',
        `--test-timeout=${timeoutMs}`,
        // A test that shows how a database stays locked for good leaves behind what that database holds, such as a server.
        '--test-force-exit',
        `--test-reporter=${reporter}`,
        '--test-reporter-destination=stdout',
        `--test-name-pattern=${pattern(name, known)}`,
        ...files.map((file) => join(path, file))
      ],
      {
        cwd: join(packages, directory.split('/')[0]),
        env: { ...process.env, ...environment, TMPDIR: temporary, TERRACE_TEST_DATABASE: module },
        stdio: ['ignore', 'pipe', 'pipe']
      }
    )
    const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)])
    const counts = judge(outcomesIn(output, name), known, least, name)
    return { ...counts, seconds: (performance.now() - begun) / 1000, errors }
  } finally {
    rmSync(temporary, { recursive: true, force: true })
  }
}

/** What the names of the tests to run match. */
function pattern(name, known) {
  const leftOut = known.filter(({ is }) => is === 'left out').map(({ test }) => `.*${escaped(test)}`)
  return `/^${leftOut.length > 0 ? `(?!${leftOut.join('|')})` : ''}.*${escaped(name)}/`
}

/** The outcomes of tests of a database, and of files that failed as a whole. */
function outcomesIn(output, database) {
  return output
    .split('\n')
    .filter((line) => line.startsWith('{"name"'))
    .map((line) => JSON.parse(line))
    .filter(({ name, failures }) => name.includes(database) || failures.length > 0)
}

function escaped(text) {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
}
