// The rule that keeps `make test` fast: a test file takes at most so long, or is listed with the reason.

import { readFileSync } from 'node:fs'

/** On the machine that `quietSeconds` was measured on. */
export const MAX_SECONDS = 20

/**
 * What all files that report their time take together on a quiet machine with two cores, and reasons by path for files that take longer
 * than they may.
 */
const { quietSeconds, reasons } = JSON.parse(
  readFileSync(new URL('../rules/slow-files.json', import.meta.url), 'utf8')
)

/**
 * What to print of files that take too long. A slow machine is slow for all files, and a busy one is slow for some more than for others:
 * if all files together take three times as long, each may take nine times as long.
 *
 * @param {Map<string, number>} secondsOf - By path.
 */
export function slowFiles(secondsOf, listed = reasons, quiet = quietSeconds) {
  const all = [...secondsOf.values()].reduce((sum, seconds) => sum + seconds, 0)
  const most = MAX_SECONDS * Math.max(1, all / quiet) ** 2
  return [...secondsOf]
    .filter(([path, seconds]) => seconds > most && listed[path] === undefined)
    .map(
      ([path, seconds]) =>
        `${path} takes ${seconds.toFixed(1)} s, more than ${most.toFixed(0)} s: make it faster, name it .long.test.js, or list it in tests/rules/slow-files.json with the reason`
    )
}
