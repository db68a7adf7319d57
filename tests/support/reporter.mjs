// A reporter of Node's test runner for people and for scripts: failures as they happen, notes of tests, what was skipped and why, and at
// the end the files over a second and the counts.
//
//   node --test --test-reporter=tests/support/reporter.mjs --test-reporter-destination=stdout FILE…
//
// With TERRACE_TEST_NAMES=FILE it appends a line with the file and the full name of each test to FILE.

import { resolve } from 'node:path'
import { inspect } from 'node:util'
import { countsLine, fileLine, placeOf, recordName } from './test-lines.mjs'

const TEST_FILE = /\.test\.[cm]?js$/
/** What a test says that Node 20 leaves out because of its name. Newer ones do not report it. */
const NAMED_OTHERWISE = /does not match pattern/
/** The parts of a stack that are Node's own. */
const INTERNAL_FRAME = /\n +at .*\(?node:[^\s)]+\)?/g
/** What Node's runner says at the end, which the counts here say as well. */
const SUMMARY = /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) [\d.]+$/
/** How much of what a failed file printed is shown. */
const MAX_OUTPUT = 8000
/** How much is shown of one failure: some assertions compare whole files. */
const MAX_LINES = 100
const MAX_WIDTH = 400

export default async function* report(events) {
  const counts = { passed: 0, failed: 0, skipped: 0 }
  const files = new Map()
  const failed = new Set()
  const output = new Map()
  /** The file that runs. A test may be defined in a module that several files share. */
  let current
  /** Why a test failed last. All of a file fail for one reason if what is before them fails. */
  let last
  /** The names of the tests that the one that runs is within. */
  let path = []

  for await (const { type, data } of events) {
    if (type === 'test:stdout' || type === 'test:stderr') {
      output.set(data.file, ((output.get(data.file) ?? '') + data.message).slice(-MAX_OUTPUT))
    }
    if (type !== 'test:enqueue' && TEST_FILE.test(data.file)) current = data.file
    if (type === 'test:diagnostic' && !SUMMARY.test(data.message)) {
      yield `note: ${data.message} (${placeOf(current ?? '')})\n`
    }
    if (type === 'test:start') path = [...path.slice(0, data.nesting), data.name]
    if (type !== 'test:pass' && type !== 'test:fail') continue

    const { name, nesting, skip, details } = data
    const isFile = nesting === 0 && resolve(name) === data.file
    if (NAMED_OTHERWISE.test(skip) || (isFile && type === 'test:pass')) continue
    const file = placeOf(current ?? data.file)
    const fullName = [...path.slice(0, nesting), isFile ? 'the whole file' : name].join(' › ')
    if (nesting === 0) files.set(file, (files.get(file) ?? 0) + details.duration_ms / 1000)
    if (details.type !== 'suite' && !isFile) recordName(file, fullName)

    if (type === 'test:fail') {
      failed.add(current)
      // The tests within it that failed have been reported.
      if (details.error?.failureType === 'subtestsFailed') continue
      counts.failed++
      const why = reason(details.error)
      yield `✖ ${fullName} (${placeOf(data.file)}:${data.line})\n${why === last ? '  as above' : indented(why)}\n`
      last = why
    } else if (skip !== undefined) {
      counts.skipped++
      yield `skipped: ${fullName} (${file})${skip === true || skip === '' ? '' : `: ${skip}`}\n`
    } else if (details.type !== 'suite') {
      counts.passed++
    }
  }

  for (const file of failed) {
    if (output.has(file)) yield `output of ${placeOf(file)}:\n${indented(output.get(file))}\n`
  }
  for (const [file, seconds] of [...files].sort(([, a], [, b]) => b - a)) {
    if (seconds > 1) yield fileLine(file, seconds)
  }
  const line = countsLine(counts)
  // The second is the plain form, which other programs read.
  yield `${line}\n${line.slice('tests '.length)}\n`
}

/** Why a test failed: what it threw, with the difference if it was an assertion, and the frames that are not Node's. */
function reason(error) {
  const { cause = error, exitCode, signal, failureType } = error ?? {}
  if (exitCode !== undefined || signal !== undefined) return `the process ended with ${signal ?? exitCode}`
  // The message of an assertion has the difference, which its properties would repeat.
  const text = typeof cause === 'string' ? cause : cause?.generatedMessage ? cause.stack : inspect(cause)
  const hint = failureType === 'hookFailed' ? 'in a hook: ' : ''
  return hint + text.replace(INTERNAL_FRAME, '')
}

/** A text of several lines as it is shown below what it belongs to: as much of it as a person reads. */
function indented(text) {
  const lines = text.trimEnd().split('\n')
  const shown = lines.slice(0, MAX_LINES).map((line) => `  ${line}`.trimEnd().slice(0, MAX_WIDTH))
  if (lines.length > MAX_LINES) shown.push(`  and ${lines.length - MAX_LINES} more lines`)
  return shown.join('\n')
}
