// The published suites of abstract-level and of abstract-leveldown in a browser.

import assert from 'node:assert/strict'
import { HANG_MS } from '../../../support/waiting.mjs'

/**
 * The source of a module whose `run()` runs abstract-level's suite with the page's tape. It resolves with the number of tests registered
 * and the lines that tape has printed: reporting each line as it is printed would take longer. If a test hangs, it rejects with the last of
 * them.
 *
 * @param head - The source before it.
 * @param factory - An expression for the factory that the suite wants. It may use the parameters of `run`.
 * @param once - Whether the suite does not repeat itself on a sublevel: it reads a private symbol to learn that it need not.
 * @param suite - The module of another suite, and what it wants besides.
 */
export const suiteModule = (
  head,
  factory,
  parameters = '',
  once = false,
  { suite, options } = { suite: 'abstract-level/test', options: {} }
) => `
  import suite from '${suite}'
  ${head}

  export function run(${parameters}) {
    const { tape } = globalThis
    let registered = 0
    let printed = ''
    const test = Object.assign((...args) => {
      registered++
      return tape(...args)
    }, tape)
    return new Promise((resolve, reject) => {
      let hanging
      const expectMore = () => {
        clearTimeout(hanging)
        const fail = () => reject(new Error('the suite goes no further than: ' + printed.slice(-2000)))
        hanging = setTimeout(fail, ${HANG_MS})
      }
      expectMore()
      tape.createStream().on('data', (text) => {
        printed += text
        expectMore()
      })
      suite({ ...${JSON.stringify(options)}, test, factory: ${factory}${once ? ', internals: new Proxy({}, { get: () => true })' : ''} })
      tape.onFinish(() => {
        clearTimeout(hanging)
        resolve({ registered, lines: printed.split('\\n') })
      })
    })
  }
`

/**
 * Checks what tape has printed, and that the suite has registered so many tests at least.
 *
 * @param lines - The lines that tape has printed.
 */
export function checkSuite(t, registered, lines, tests) {
  const failed = lines.filter((line) => /^\s*not ok/.test(line))
  const passed = lines.filter((line) => /^\s*ok/.test(line))
  t.diagnostic(`${registered} tests registered, ${passed.length} assertions passed, ${failed.length} failed`)
  assert.deepEqual(failed, [])
  assert.ok(registered >= tests, `${registered} tests registered`)
  assert.ok(passed.length > registered, `${passed.length} assertions`)
}
