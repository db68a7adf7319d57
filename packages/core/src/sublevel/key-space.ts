/**
 * Prewrite hooks. As in abstract-level, a function belongs to the object that it was added to. A function with `everyWrite`
 * belongs to the *key space* of that object: the keys that begin with its prefix, or all keys. A database keeps here the
 * functions of all its sublevels, and finds those that an operation has to pass.
 */

import type { AbstractDatabaseHooks } from 'abstract-level'
import type { PrewriteFunction, PrewriteOptions } from '../hooks/prewrite.js'
import type { Database, HookedSpace, Registration } from '../level/database.js'

/** The hooks of a database or sublevel: those of abstract-level, with options for `prewrite`. */
export interface Hooks<TDatabase> extends AbstractDatabaseHooks<TDatabase> {
  /** The hook whose functions run on each operation before it is written. */
  prewrite: PrewriteHook
}

export const noSpaces: readonly HookedSpace[] = Object.freeze([])

/** The functions with `everyWrite` of a database and its sublevels. */
export class KeySpaces {
  readonly #hooks = new Set<PrewriteHook>()
  /** The key spaces, deepest first. */
  #spaces: readonly HookedSpace[] = noSpaces
  /** Increases with each change. */
  version = 1
  #order = 0

  get isEmpty(): boolean {
    return this.#spaces.length === 0
  }

  /** Returns a number greater than any before. */
  nextOrder(): number {
    return ++this.#order
  }

  /** Returns the key spaces that contain the keys with this prefix, deepest first. */
  around(prefix: string): readonly HookedSpace[] {
    const found = this.#spaces.filter((space) => prefix.startsWith(space.prefix))
    return found.length === 0 ? noSpaces : found
  }

  /** Whether a range within a prefix may touch a key space. */
  touches(prefix: string): boolean {
    return this.#spaces.some((space) => prefix.startsWith(space.prefix) || space.prefix.startsWith(prefix))
  }

  /** Of the spaces within a prefix or around it, the deepest that contains the key, which is given as latin1. */
  deepest(key: string): HookedSpace | undefined {
    return this.#spaces.find((space) => key.startsWith(space.prefix))
  }

  /** Call it when the functions of a hook have changed, or whether they are active. */
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
  /** The prefix that the keys of its database or sublevel have in the root database. */
  readonly prefix: string
  readonly #spaces: KeySpaces
  readonly #owner: Database
  /**
   * The functions of this object alone. The array never changes, so a reference to it keeps the functions as they are now.
   *
   * @internal
   */
  functions = noFunctions
  /** The functions with `everyWrite`. */
  readonly #registrations = new Map<PrewriteFunction, Registration>()
  #isOpen = true

  /** @internal */
  constructor(spaces: KeySpaces, prefix: string, owner: Database) {
    this.#spaces = spaces
    this.prefix = prefix
    this.#owner = owner
  }

  /** Whether the hook has no functions. */
  get noop(): boolean {
    return this.functions.length === 0 && this.#registrations.size === 0
  }

  /** A function that calls the current functions. As in abstract-level, it is the function itself if there is only one. */
  get run(): PrewriteFunction {
    const functions = [...this.functions, ...this.#registrations.keys()]
    if (functions.length === 1) return functions[0] as PrewriteFunction
    return (operation, batch) => {
      for (const run of functions) run(operation, batch)
    }
  }

  /**
   * Adds a function, unless it is already present. It stays until it is deleted. With `everyWrite`, it is inactive while the
   * database or sublevel is closed.
   *
   * @throws TypeError if `run` is not a function.
   */
  add(run: PrewriteFunction, options?: PrewriteOptions | undefined): void {
    assertFunction(run)
    if (this.functions.includes(run) || this.#registrations.has(run)) return

    if (options?.everyWrite === true) {
      const { prepare } = options
      this.#registrations.set(run, { run, prepare, order: this.#spaces.nextOrder(), owner: this.#owner })
      this.#spaces.update(this)
    } else {
      this.functions = Object.freeze([...this.functions, run])
    }
  }

  /**
   * Removes a function.
   *
   * @throws TypeError if `run` is not a function.
   */
  delete(run: PrewriteFunction): void {
    assertFunction(run)
    if (this.#registrations.delete(run)) this.#spaces.update(this)
    else this.functions = Object.freeze(this.functions.filter((each) => each !== run))
  }

  /** @internal */
  get registrations(): Iterable<Registration> {
    return this.#registrations.values()
  }

  /**
   * Whether the hook has active functions with `everyWrite`.
   *
   * @internal
   */
  get isActive(): boolean {
    return this.#isOpen && this.#registrations.size > 0
  }

  /**
   * The functions with `everyWrite` of a closed sublevel are inactive until it is opened again.
   *
   * @internal
   */
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
