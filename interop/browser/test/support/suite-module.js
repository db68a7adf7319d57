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
