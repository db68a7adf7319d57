/**
 * Prewrite hooks. A function belongs to the object that it was added to, as in abstract-level; one with `everyWrite` belongs
 * to the *key space* of that object, the keys that begin with its prefix, or all keys. This is where a database keeps those
 * of all its sublevels, and finds the ones that an operation has to pass.
 */

import type { AbstractDatabaseHooks } from 'abstract-level'
import type { Database, HookedSpace, Registration } from './database.js'
import type { PrewriteFunction, PrewriteOptions } from './prewrite.js'

/** The hooks of a database or sublevel: those of abstract-level, with options for `prewrite`. */
export interface Hooks<TDatabase> extends AbstractDatabaseHooks<TDatabase> {
  prewrite: PrewriteHook
}

export const noSpaces: readonly HookedSpace[] = Object.freeze([])

/** The functions with `everyWrite` of a database and its sublevels. */
export class KeySpaces {
  readonly #hooks = new Set<PrewriteHook>()
  /** The deepest first. */
  #spaces: readonly HookedSpace[] = noSpaces
  /** Grows with each change. */
  version = 1
  #order = 0

  get isEmpty(): boolean {
    return this.#spaces.length === 0
  }

  /** Greater than any before. */
  nextOrder(): number {
    return ++this.#order
  }

  /** Those that the keys of a prefix lie in, the deepest first. */
  around(prefix: string): readonly HookedSpace[] {
    const found = this.#spaces.filter((space) => prefix.startsWith(space.prefix))
    return found.length === 0 ? noSpaces : found
  }

  /** Whether a range within a prefix may touch one. */
  touches(prefix: string): boolean {
    return this.#spaces.some((space) => prefix.startsWith(space.prefix) || space.prefix.startsWith(prefix))
  }

  /** Of the spaces within a prefix or around it, the deepest that a key lies in. The key is given as latin1. */
  deepest(key: string): HookedSpace | undefined {
    return this.#spaces.find((space) => key.startsWith(space.prefix))
  }

  /** To be called when the functions of a hook changed, or whether they count. */
  update(hook: PrewriteHook): void {
    if (hook.isActive) this.#hooks.add(hook)
    else this.#hooks.delete(hook)

    const spaces = new Map<string, Registration[]>()

    for (const { prefix, registrations } of this.#hooks) {
      const found = spaces.get(prefix)
      if (found === undefined) spaces.set(prefix, [...registrations])
      else found.push(...registrations)
    }

    this.#spaces = Array.from(spaces, ([prefix, functions]) => ({
      prefix,
      functions: functions.sort((a, b) => a.order - b.order)
    })).sort((a, b) => b.prefix.length - a.prefix.length)
    this.version++
  }
}

const noFunctions: readonly PrewriteFunction[] = Object.freeze([])

/** The hook `prewrite` of a database or sublevel. */
export class PrewriteHook {
  readonly prefix: string
  readonly #spaces: KeySpaces
  readonly #owner: Database
  /** Those of this object. The array does not change: who keeps it has the functions as they are now. @internal */
  functions = noFunctions
  /** Those with `everyWrite`. */
  readonly #registrations = new Map<PrewriteFunction, Registration>()
  #isOpen = true

  /** @internal */
  constructor(spaces: KeySpaces, prefix: string, owner: Database) {
    this.#spaces = spaces
    this.prefix = prefix
    this.#owner = owner
  }

  /** Whether there are no functions. */
  get noop(): boolean {
    return this.functions.length === 0 && this.#registrations.size === 0
  }

  /** Calls the functions as they are now. As in abstract-level it is the function itself if there is one alone. */
  get run(): PrewriteFunction {
    const functions = [...this.functions, ...this.#registrations.keys()]
    if (functions.length === 1) return functions[0] as PrewriteFunction
    return (operation, batch) => {
      for (const run of functions) run(operation, batch)
    }
  }

  /**
   * Adds a function, if it was not added already. It lives until it is deleted; with `everyWrite` also only while the
   * database or sublevel is not closed.
   */
  add(run: PrewriteFunction, options?: PrewriteOptions | undefined): void {
    assertFunction(run)
    if (this.functions.includes(run) || this.#registrations.has(run)) return

    if (options?.everyWrite === true) {
      this.#registrations.set(run, { run, order: this.#spaces.nextOrder(), owner: this.#owner })
      this.#spaces.update(this)
    } else {
      this.functions = Object.freeze([...this.functions, run])
    }
  }

  /** Removes a function. */
  delete(run: PrewriteFunction): void {
    assertFunction(run)
    if (this.#registrations.delete(run)) this.#spaces.update(this)
    else this.functions = Object.freeze(this.functions.filter((each) => each !== run))
  }

  /** @internal */
  get registrations(): Iterable<Registration> {
    return this.#registrations.values()
  }

  /** Whether it has functions with `everyWrite` that count. @internal */
  get isActive(): boolean {
    return this.#isOpen && this.#registrations.size > 0
  }

  /** The functions with `everyWrite` of a closed sublevel do not count until it is opened again. @internal */
  setOpen(isOpen: boolean): void {
    if (this.#isOpen === isOpen) return
    this.#isOpen = isOpen
    if (this.#registrations.size > 0) this.#spaces.update(this)
  }
}

function assertFunction(value: unknown): void {
  if (typeof value === 'function') return
  throw new TypeError(
    `The first argument must be a function, received ${value === null ? 'null' : typeof value}`
  )
}
