// The rule that keeps `make test` fast: a test file takes at most so long, or is listed with the reason.

import { readFileSync } from 'node:fs'

export const MAX_SECONDS = 20
/** So much of the processors' time, or more, is somebody else's work, and times say little. */
const BUSY = 0.15
const SAMPLE_MS = 1000

/** Reasons by path. */
const LISTED = JSON.parse(readFileSync(new URL('../rules/slow-files.json', import.meta.url), 'utf8'))

/** What to print of files that take too long. */
export function slowFiles(secondsOf, listed = LISTED) {
  return [...secondsOf]
    .filter(([path, seconds]) => seconds > MAX_SECONDS && listed[path] === undefined)
    .map(
      ([path, seconds]) =>
        `${path} takes ${seconds.toFixed(1)} s, more than ${MAX_SECONDS} s: make it faster, name it .long.test.js, or list it in tests/rules/slow-files.json with the reason`
    )
}

/** Whether other programs use the processors or wait for the disk, while this one does nothing. Linux only; elsewhere true. */
export async function isBusy() {
  const before = cpuTimes()
  if (before === undefined) return true
  await new Promise((resolve) => setTimeout(resolve, SAMPLE_MS))
  const after = cpuTimes()
  const [idle, all] = [after.idle - before.idle, after.all - before.all]
  return 1 - idle / all > BUSY
}

/** Ticks of all processors since the start of the machine: those without any work, waiting for a disk not among them, and all. */
function cpuTimes() {
  let stat
  try {
    stat = readFileSync('/proc/stat', 'utf8')
  } catch {
    return undefined
  }
  const ticks = stat.split('\n', 1)[0].split(/\s+/).slice(1, 9).map(Number)
  return { idle: ticks[3], all: ticks.reduce((sum, part) => sum + part, 0) }
}
