// Reads what a part of the tests has printed: counts, times of files, and what it left out.

/** What each runner of tests prints at its end: passed, failed, skipped. */
const COUNTS = [
  // Ours (tests/support/reporter.mjs and suite.mjs).
  [
    /^tests (\d+) passed, (\d+) failed, (\d+) skipped/,
    ([, passed, failed, skipped]) => [passed, failed, skipped]
  ],
  [
    /^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored/,
    ([, passed, failed, skipped]) => [passed, failed, skipped]
  ],
  // Ruby's minitest. A run is a test, and what failed or was skipped is among them.
  [
    /^(\d+) runs, \d+ assertions, (\d+) failures, (\d+) errors, (\d+) skips/,
    ([, runs, failures, errors, skips]) => {
      const failed = Number(failures) + Number(errors)
      return [runs - failed - skips, failed, skips]
    }
  ]
]

/** The sums of all counts in the lines of a log. */
export function countsIn(lines) {
  const sums = { passed: 0, failed: 0, skipped: 0 }
  for (const line of lines) {
    for (const [pattern, read] of COUNTS) {
      const match = pattern.exec(line)
      if (match === null) continue
      const [passed, failed, skipped] = read(match)
      sums.passed += Number(passed)
      sums.failed += Number(failed)
      sums.skipped += Number(skipped)
    }
  }
  return sums
}

/** Seconds by test file, as our reporter prints them. */
export function filesIn(lines) {
  return lines.flatMap((line) => {
    const [, seconds, path] = /^file (\d+\.\d+) s (.+)$/.exec(line) ?? []
    return path === undefined ? [] : [[path, Number(seconds)]]
  })
}

/** The reasons that a part gives for what it leaves out as a whole. */
export function skippedIn(lines) {
  return lines.filter((line) => line.startsWith('skipped: '))
}
