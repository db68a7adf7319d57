// Lines about tests that scripts read.

import { appendFileSync } from 'node:fs'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const { TERRACE_TEST_NAMES } = process.env

/** The path of a file in the repository. */
export function placeOf(file) {
  return relative(root, file).replaceAll('\\', '/')
}

/** The line in the output of tests with the time that a file of the repository took. */
export function fileLine(file, seconds) {
  return `file ${seconds.toFixed(1)} s ${file}\n`
}

/** The line of counts that tests/support/logs.mjs adds up. `what` names what was counted. */
export function countsLine({ passed, failed, skipped }, what = '') {
  return `tests ${passed} passed, ${failed} failed, ${skipped} skipped${what === '' ? '' : `: ${what}`}`
}

/** Appends the name of a test, with that of its file, to the list that TERRACE_TEST_NAMES names, if it is set. */
export function recordName(file, name) {
  if (TERRACE_TEST_NAMES) appendFileSync(TERRACE_TEST_NAMES, `${file} › ${name}\n`)
}
