// Judges outcomes of tests by what is known. A test that fails over a database must do so for a reason that is written down, and
// what is written down must still be so.

/**
 * A test that does not hold for a database.
 *
 * @typedef {object} Known
 * @property {string} test - How the name of the test begins, without that of the database.
 * @property {string} reason
 * @property {'fails' | 'may fail' | 'left out'} [is] - It fails, which is the default; or it fails with some timings; or it is
 * not run, because it takes minutes or would end the process.
 */

/**
 * The counts of outcomes. A test that fails without being known, or that is known to fail and passes or is missing, is among the
 * `surprises`.
 *
 * @param outcomes - Tests with their `name`, whether each `isSkipped`, and its `failures`.
 * @param {Known[]} known
 * @param least - How many tests there are at least, so that none goes missing unnoticed.
 * @param name - The name of the database, which is taken off the names of the tests.
 */
export function judge(outcomes, known, least, name = '') {
  const counts = { passed: 0, failed: 0, skipped: 0, exceptions: [] }
  const surprises = []
  const wrong = new Set(known.filter(({ is = 'fails' }) => is === 'fails'))
  for (const outcome of outcomes) {
    const test = plain(outcome.name, name)
    const found = known.find((each) => test.startsWith(each.test))
    if (outcome.failures.length > 0 && found !== undefined) {
      counts.exceptions.push({ test, reason: found.reason })
      wrong.delete(found)
    } else if (outcome.failures.length > 0) {
      counts.failed++
      surprises.push(`${test}: ${outcome.failures.join('\n')}`)
    } else if (outcome.isSkipped) {
      counts.skipped++
    } else {
      counts.passed++
    }
  }
  for (const { test } of wrong) surprises.push(`${test}: it does not fail, so it is no exception any more`)
  for (const { test, reason, is } of known)
    if (is === 'left out') counts.exceptions.push({ test, reason, isLeftOut: true })
  if (counts.passed < least) surprises.push(`only ${counts.passed} tests pass, and ${least} should at least`)
  return { ...counts, surprises }
}

/** The name of a test without the database's, which it begins with or has in brackets. */
function plain(test, name) {
  return name === '' ? test : test.replace(`${name}: `, '').replace(` (${name})`, '')
}
