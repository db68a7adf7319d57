/**
 * Prewrite hooks belong to key spaces: the keys that begin with the prefix of a sublevel, or all keys. This is where a
 * database keeps the functions of all its sublevels, and finds those that an operation has to pass.
 */

import type { AbstractDatabaseHooks } from 'abstract-level'
import type { Database } from './place.js'

/** What a hook function may do: add operations to the batch of the one that it was called for. */
export interface PrewriteBatch<TOperation = object> {
  /**
   * Adds an operation of the form that `batch([])` takes. It is written in the same batch, after the operations that were
   * given. It is checked and encoded within the call.
   *
   * @throws as `batch()` does for an operation that is wrong.
   */
  add(operation: TOperation): this
}

/** A function that sees, and may change, each operation before it is written. */
// biome-ignore lint/suspicious/noExplicitAny: an operation has the types of whichever database it was given to
export type PrewriteFunction = (operation: any, batch: PrewriteBatch<any>) => void

/** Options of `hooks.prewrite.add()`. */
export interface PrewriteOptions {
  /**
   * Call the function also for operations that reach its key space by the option `sublevel`: of a batch on an ancestor or
   * on another sublevel, or of an operation that another hook function added. Without it such operations pass it by, as
   * the tests of abstract-level ask for. Whoever keeps something in step with the entries, as an index, wants it.
   *
   * @defaultValue `false`
   */
  everyWrite?: boolean | undefined
}

/** The hooks of a database or sublevel: those of abstract-level, with options for `prewrite`. */
export interface Hooks<TDatabase> extends AbstractDatabaseHooks<TDatabase> {
  prewrite: PrewriteHook
}

/** A function that was added. */
export interface Registration {
  readonly run: PrewriteFunction
  readonly everyWrite: boolean
  /** Grows with each function that is added to the database or one of its sublevels. */
  readonly order: number
  /** The database or sublevel that it was added to. */
  readonly owner: Database
}

/** A key space that has functions. */
export interface HookedSpace {
  readonly prefix: string
  readonly functions: readonly Registration[]
}

export const noSpaces: readonly HookedSpace[] = Object.freeze([])

/** The functions of a database and its sublevels. */
export class KeySpaces {
  readonly #hooks = new Set<PrewriteHook>()
  /** The deepest first. */
  #spaces: readonly HookedSpace[] = noSpaces
  /** Grows with each change. */
  version = 1
  /** Of the function that was added last. */
  order = 0

  get isEmpty(): boolean {
    return this.#spaces.length === 0
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

/** The hook `prewrite` of a database or sublevel. */
export class PrewriteHook {
  readonly prefix: string
  readonly #spaces: KeySpaces
  readonly #owner: Database
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
    return this.#registrations.size === 0
  }

  /** Calls the functions as they are now. As in abstract-level it is the function itself if there is one alone. */
  get run(): PrewriteFunction {
    const functions = Array.from(this.#registrations.keys())
    if (functions.length === 1) return functions[0] as PrewriteFunction
    return (operation, batch) => {
      for (const run of functions) run(operation, batch)
    }
  }

  /** Adds a function, if it was not added already. It lives until it is deleted or the database or sublevel is closed. */
  add(run: PrewriteFunction, options?: PrewriteOptions | undefined): void {
    assertFunction(run)
    if (this.#registrations.has(run)) return

    const everyWrite = options?.everyWrite === true
    this.#registrations.set(run, { run, everyWrite, order: ++this.#spaces.order, owner: this.#owner })
    this.#spaces.update(this)
  }

  /** Removes a function. */
  delete(run: PrewriteFunction): void {
    assertFunction(run)
    if (this.#registrations.delete(run)) this.#spaces.update(this)
  }

  /** @internal */
  get registrations(): Iterable<Registration> {
    return this.#registrations.values()
  }

  /** Whether its functions count. @internal */
  get isActive(): boolean {
    return this.#isOpen && this.#registrations.size > 0
  }

  /** The functions of a closed sublevel do not count until it is opened again. @internal */
  setOpen(isOpen: boolean): void {
    if (this.#isOpen === isOpen) return
    this.#isOpen = isOpen
    if (!this.noop) this.#spaces.update(this)
  }
}

function assertFunction(value: unknown): void {
  if (typeof value === 'function') return
  throw new TypeError(
    `The first argument must be a function, received ${value === null ? 'null' : typeof value}`
  )
}
