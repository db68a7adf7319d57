// abstract-level's published suite in a browser.

import assert from 'node:assert/strict'

/**
 * The source of a module whose `run()` runs abstract-level's suite with the tape that the page has, and resolves with how many tests
 * there were.
 *
 * @param head - The source before it.
 * @param factory - An expression for the factory that the suite wants. It may use the parameters of `run`.
 */
export const suiteModule = (head, factory, parameters = '') => `
  import suite from 'abstract-level/test'
  ${head}

  export function run(${parameters}) {
    const { tape } = globalThis
    let registered = 0
    const test = Object.assign((...args) => {
      registered++
      return tape(...args)
    }, tape)
    suite({ test, factory: ${factory} })
    return new Promise((resolve) => tape.onFinish(() => resolve(registered)))
  }
`

/**
 * Checks what tape has printed, and that the suite has registered so many tests at least.
 *
 * @param lines - The lines that the page or worker has printed.
 */
export function checkSuite(t, registered, lines, tests) {
  const failed = lines.filter((line) => /^\s*not ok/.test(line))
  const passed = lines.filter((line) => /^\s*ok/.test(line))
  t.diagnostic(`${registered} tests registered, ${passed.length} assertions passed, ${failed.length} failed`)
  assert.deepEqual(failed, [])
  assert.ok(registered >= tests, `${registered} tests registered`)
  assert.ok(passed.length > registered, `${passed.length} assertions`)
}
