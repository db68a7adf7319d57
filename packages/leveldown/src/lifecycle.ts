/** The database of Terrace under an instance: when it is made, opened and closed, and the calls that wait until it is open. */

import { type BackendLevel, DirectCalls } from 'terrace-core'
import type { Status } from './types.js'

type Options = Record<string, unknown>

/** A database of Terrace, whatever its types of keys and values. */
export type AnyLevel = BackendLevel<unknown, unknown>

/** Where the database comes from. */
export interface Source {
  /** Whether calls before `open()` succeed, as those of memdown do. The database is then opened for them. */
  readonly worksUnopened?: boolean
  /** Makes the database. It begins to open in the next microtask, unless it is opened or closed before. */
  create(): AnyLevel
  /** Checks and changes the options of `open()` for the database. */
  openOptions?(options: Options): object
}

/** The instances over databases of Terrace. */
const instances = new WeakMap<AnyLevel, object>()

export class Lifecycle {
  /** What reads and writes the database. Undefined until the database is made, and while calls wait. */
  calls: DirectCalls | undefined
  readonly #instance: object
  readonly #source: Source
  #level: AnyLevel | undefined
  /** The status in which the database is if it is neither open nor about to be. */
  #rest: 'new' | 'closed' = 'new'
  /** The status until the running call of `open()` or `close()` has ended. */
  #passing: Status | undefined
  /** How many calls of `open()` and `close()` there have been. */
  #changes = 0
  /** Whether the database was opened for calls before `open()`. */
  #isUnopened = false
  /** Calls that wait until the database is open, in order. */
  #waiting: Array<() => void> | undefined
  /** Whether the calls that have waited are being made. */
  #isFlushing = false
  /** The running or last call of `open()`, or the one for calls before it, with those calls. */
  #opening: Promise<void> | undefined

  constructor(instance: object, source: Source) {
    this.#instance = instance
    this.#source = source
  }

  get status(): Status {
    if (this.#passing !== undefined) return this.#passing
    const level = this.#level
    // While another opens the database, `open()` can be called here to wait for it, as levelup does if it is 'new' or 'closed'.
    return level?.status === 'open' || level?.status === 'closing' ? level.status : this.#rest
  }

  /** The database. If nothing has needed it before, it is made, but does not open before `open()` is called. */
  get level(): AnyLevel {
    if (this.#level === undefined) {
      const level = this.make()
      this.#passing = this.#rest
      const change = ++this.#changes
      const closed = (): void => this.#ended(change)
      level.close().then(closed, closed)
      return level
    }
    return this.#level
  }

  /** Whether the database takes calls that are not preceded by `open()`. */
  get isUsableUnopened(): boolean {
    return (
      this.#isFlushing || (this.#isUnopened && this.#waiting === undefined && this.#level?.status === 'open')
    )
  }

  /**
   * Makes the database, unless it has been made.
   *
   * @throws TypeError if it is no database of Terrace.
   */
  make(): AnyLevel {
    if (this.#level !== undefined) return this.#level
    const level = this.#source.create()
    this.#level = level
    this.calls = new DirectCalls(level)
    instances.set(level, this.#instance)
    if (level.status === 'open') this.#rest = 'closed'
    level.on('open', () => {
      this.#rest = 'closed'
    })
    return level
  }

  open(options: Options): Promise<void> {
    const change = ++this.#changes
    this.#passing = 'opening'
    let opening: Promise<void>
    try {
      const wanted = ownOptions(options)
      const given = this.#source.openOptions?.(wanted) ?? wanted
      const level = this.make()
      opening = this.#isUnopened ? this.#openWith(level, given) : level.open(given as never)
    } catch (error) {
      opening = Promise.reject(error)
    }
    this.#isUnopened = false
    this.#opening = opening
    return opening.finally(() => this.#ended(change))
  }

  /** Opens a database that has been opened for calls before `open()`: again, if that has options. */
  async #openWith(level: AnyLevel, options: object): Promise<void> {
    await this.#opening
    if (Object.keys(options).length > 0) await level.close()
    await level.open(options as never)
  }

  close(): Promise<void> {
    const change = ++this.#changes
    this.#passing = 'closing'
    this.#isUnopened = false
    const closing =
      this.#waiting === undefined
        ? (this.#level?.close() ?? Promise.resolve())
        : (this.#opening as Promise<void>).then(() => this.#level?.close())
    return closing.finally(() => {
      if (this.#level === undefined || this.#level.status === 'closed') this.#rest = 'closed'
      this.#ended(change)
    })
  }

  /** Lets a call wait until the database is open. Returns false if it takes no calls before that. */
  wait(work: () => void): boolean {
    const { status } = this
    if (this.#source.worksUnopened !== true || this.#isFlushing) return false
    if (status !== 'new' && status !== 'opening') return false
    if (this.#waiting !== undefined) {
      this.#waiting.push(work)
      return true
    }
    if (this.#level?.status === 'open') return false

    const level = this.make()
    if (status === 'new') {
      this.#isUnopened = true
      this.#passing = 'new'
      this.#changes++
      this.#opening = level.open()
    }
    this.#waiting = [work]
    // Later calls must not overtake those that wait.
    this.calls = undefined
    const flush = (): void => this.#flush(level)
    this.#opening = (this.#opening as Promise<void>).then(flush, flush)
    return true
  }

  #flush(level: AnyLevel): void {
    const waiting = this.#waiting ?? []
    this.#waiting = undefined
    this.calls = new DirectCalls(level)
    this.#isFlushing = true
    for (const work of waiting) work()
    this.#isFlushing = false
  }

  /** Notes the end of a call of `open()` or `close()`, unless another one has begun since. */
  #ended(change: number): void {
    if (this.#changes === change) this.#passing = undefined
  }
}

/** The instance over a database of Terrace, if there is one. */
export function instanceOver(level: AnyLevel): object | undefined {
  return instances.get(level)
}

/**
 * Options of `open()` without those that belong to the layers above or would only wait for an open database, and without what is the
 * default anyway: the program may have given the database itself another one.
 */
function ownOptions(options: Options): Options {
  const { keyEncoding, valueEncoding, passive, createIfMissing, errorIfExists, ...others } = options
  return {
    ...others,
    ...(createIfMissing === false && { createIfMissing }),
    ...(errorIfExists === true && { errorIfExists })
  }
}
