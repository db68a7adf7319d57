/**
 * Prewrite hooks. A function belongs to the object that it was added to, as in abstract-level; one with `everyWrite` belongs
 * to the *key space* of that object, the keys that begin with its prefix, or all keys. This is where a database keeps those
 * of all its sublevels, and finds the ones that an operation has to pass.
 */

import type { AbstractDatabaseHooks } from 'abstract-level'
import type { Database } from './place.js'

/** What a hook function may do: add operations to the batch of the one that it was called for. */
export interface PrewriteBatch<TOperation = object> {
  /**
   * Adds an operation of the form that `batch([])` takes, which may be changed. It is written in the same batch: after all
   * operations that were given, or, by a function with `everyWrite`, right after the one for which that was called. It is
   * checked and encoded within the call.
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
   * Call the function for every write to the keys of the object that it is added to, through whichever object it comes:
   * another one of the same name, one below, the option `sublevel`, another hook function, `clear()`. It is called after the
   * functions without this option, and what it adds is written right after the operation for which it was added. Whoever
   * keeps something in step with the entries, as an index, wants it.
   *
   * Without it a function is called as abstract-level documents it: for what is written through this very object.
   *
   * @defaultValue `false`
   */
  everyWrite?: boolean | undefined
}

/** The hooks of a database or sublevel: those of abstract-level, with options for `prewrite`. */
export interface Hooks<TDatabase> extends AbstractDatabaseHooks<TDatabase> {
  prewrite: PrewriteHook
}

/** A function that was added with `everyWrite`. */
export interface Registration {
  readonly run: PrewriteFunction
  /** Grows with each function that is added to the database or one of its sublevels. */
  readonly order: number
  /** The database or sublevel that it was added to. */
  readonly owner: Database
}

/** A key space that has functions with `everyWrite`. */
export interface HookedSpace {
  readonly prefix: string
  readonly functions: readonly Registration[]
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
