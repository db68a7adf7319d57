// Runs the published test suite of abstract-level, unmodified, on a server of TiDB that the user has started:
//
//   TERRACE_TIDB_URL=mysql://root@127.0.0.1:4000/test node packages/back-ends/mysql/test/tidb/run.mjs
//
// Prints the tests that fail, and compares them with those that are expected to. The exit code is 1 if others fail.

import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { MysqlLevel } from 'terrace-mysql'
import { runSuites } from '../../../../../tests/support/suite.mjs'

const KIND = 'a database'
const LIMIT_MS = 1_800_000

const url = process.env.TERRACE_TIDB_URL
const expected = readFileSync(new URL('expected-failures.txt', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))

if (url === undefined) {
  console.log('skipped: TERRACE_TIDB_URL does not name a server of TiDB')
} else if (process.argv[2] === undefined) {
  judge(await suiteOutput())
} else {
  let made = 0
  const run = `${process.pid}-${Date.now()}`
  runSuites(import.meta.url, {
    [KIND]: {
      tests: 1479,
      factory: (options) => new MysqlLevel(url, { name: `${run}-${made++}`, poolSize: 160, ...options })
    }
  })
}

/** What the suite prints, in the format of TAP. */
async function suiteOutput() {
  const { stdout, signal } = spawnSync(process.execPath, [fileURLToPath(import.meta.url), KIND, '--tap'], {
    encoding: 'utf8',
    maxBuffer: 256 << 20,
    timeout: LIMIT_MS,
    stdio: ['ignore', 'pipe', 'inherit']
  })
  if (signal !== null) throw new Error(`the suite was ended by ${signal}`)
  return stdout
}

function judge(output) {
  const { tests, failed } = failuresIn(output)
  const unexpected = [...failed].filter((name) => !expected.includes(name))
  const gone = expected.filter((name) => !failed.has(name))
  for (const name of unexpected) console.log(`fails: ${name}`)
  for (const name of gone) console.log(`was expected to fail, and passes: ${name}`)
  console.log(`${tests} tests, ${failed.size} failed, ${unexpected.length} of them not expected`)
  // This test comes last. The process ends before tape prints its plan.
  const isComplete = /^# the suite registers its tests for /m.test(output)
  if (!isComplete) console.log('the suite has not come to its end')
  if (unexpected.length > 0 || !isComplete || tests === 0) process.exitCode = 1
}

/** The names of tests of which an assertion failed. */
function failuresIn(output) {
  const failed = new Set()
  let tests = 0
  let name
  for (const line of output.split('\n')) {
    if (line.startsWith('# ')) {
      name = line.slice(2)
      tests++
    } else if (line.startsWith('not ok ')) {
      failed.add(name)
    }
  }
  return { tests, failed }
}
