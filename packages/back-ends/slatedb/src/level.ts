import { BackendLevel, codedError } from 'terrace-core'
import { assertLocation } from './location.js'
import { type DatabaseOptions, flushIntervalOf, type OpenOptions } from './options.js'
import { SlateBackend } from './slate-backend.js'

/**
 * An ordered key/value database in an object store, such as S3, or in a directory or in memory. Only one instance at a time can
 * write; any number of others can read concurrently, including on other machines.
 *
 * An acknowledged write is in the store, unless the option `acknowledge` specifies otherwise. Each call is atomic, and calls
 * take effect in order.
 *
 * @typeParam KDefault - The default type of keys.
 * @typeParam VDefault - The default type of values.
 */
export class SlateLevel<KDefault = string, VDefault = string> extends BackendLevel<KDefault, VDefault> {
  readonly #location: string
  readonly #backend: SlateBackend

  /**
   * Creates an instance and starts opening the database. Await {@link open} to learn whether opening succeeds. Unless
   * `readOnly` is true, opening takes over the database: from then on, an instance that has it open for writing fails with
   * LEVEL_FENCED.
   *
   * @param location - The URL of the database, such as `s3://bucket/path`, `file:///path` or `memory:///`, or a directory.
   * @param options - Options of the database, and of {@link open}, which is called automatically.
   * @throws TypeError if `location` is not a valid location or contains credentials, or an option is not valid.
   */
  constructor(location: string, options?: DatabaseOptions<KDefault, VDefault> | undefined) {
    assertLocation(location)
    // These are not options of open().
    const { storeOptions, flushIntervalMs, ...others } = options ?? {}
    const backend = new SlateBackend(location, { ...storeOptions }, flushIntervalOf(flushIntervalMs))
    super(backend, others)
    this.#backend = backend
    this.#location = location
  }

  /** The location as it was passed to the constructor. */
  get location(): string {
    return this.#location
  }

  /**
   * Brings a database that was opened with `readOnly` up to date with what the writer has stored: later reads see the newest
   * state. Existing iterators and snapshots keep their state. If this fails, the database keeps showing its previous state.
   * Without `readOnly`, it does nothing.
   *
   * @throws LEVEL_DATABASE_NOT_OPEN if the database is not open.
   * @throws LEVEL_DEADLINE if the store does not answer.
   */
  async refresh(): Promise<void> {
    if (this.status === 'opening') return this.deferAsync(() => this.refresh())
    if (this.status !== 'open') throw codedError('LEVEL_DATABASE_NOT_OPEN', 'Database is not open')
    return this.#backend.refresh()
  }
}

// Methods that terrace-core implements, with types that include the options of this package.
// biome-ignore lint/correctness/noUnusedVariables: both declarations of a class name the same parameters
export interface SlateLevel<KDefault, VDefault> {
  open(): Promise<void>
  open(options: OpenOptions): Promise<void>
}
