/** Classes that can be called without `new`, and extended in both the old and the new way. */

import type { Database } from './database.js'

/**
 * Makes a function that is both a class and a factory.
 *
 * @param name - The name of the class.
 * @param body - The class whose methods instances have.
 * @param initialize - Turns an object into an instance.
 */
export function hybrid<Args extends unknown[]>(
  name: string,
  body: { readonly prototype: Database },
  initialize: (db: Database, ...args: Args) => void
): { new (...args: Args): Database; (...args: Args): Database } {
  function construct(this: unknown, ...args: Args): Database | undefined {
    if (!(this instanceof construct))
      return new (construct as unknown as new (...args: Args) => Database)(...args)
    initialize(this as unknown as Database, ...args)
    return undefined
  }

  construct.prototype = Object.create(body.prototype, {
    constructor: { value: construct, writable: true, configurable: true }
  })
  Object.defineProperties(construct, { name: { value: name }, length: { value: 1 } })
  return construct as unknown as { new (...args: Args): Database; (...args: Args): Database }
}
