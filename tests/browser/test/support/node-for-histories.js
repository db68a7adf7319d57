// What the histories of terrace-core's tests use of Node, in a page.

const failed = (what, values) => new Error(`${what}: ${JSON.stringify(values)}`)

export const isDeepStrictEqual = (a, b) => JSON.stringify(a) === JSON.stringify(b)

export default {
  ok(value, message) {
    if (!value) throw failed(message ?? 'not true', value)
  },
  equal(actual, expected) {
    if (!Object.is(actual, expected)) throw failed('not equal', [actual, expected])
  },
  deepEqual(actual, expected) {
    if (!isDeepStrictEqual(actual, expected)) throw failed('not equal', [actual, expected])
  },
  match(text, pattern) {
    if (!pattern.test(text)) throw failed(`does not match ${pattern}`, text)
  },
  throws(work, { code }) {
    try {
      work()
    } catch (error) {
      if (code.test(error.code)) return
      throw error
    }
    throw failed('does not throw', String(code))
  }
}

/** Of `node:timers/promises`. */
export { wait as setImmediate, wait as setTimeout }

const wait = (ms) => new Promise((resolve) => globalThis.setTimeout(resolve, ms))
