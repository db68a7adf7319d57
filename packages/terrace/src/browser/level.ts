import { BackendLevel } from 'terrace-core'
import { loadStore } from './module.js'
import { StoreBackend } from './store-backend.js'
import type { DatabaseOptions, OpenOptions } from './store-options.js'

/**
 * An ordered key/value database in a browser's origin-private file system, for use in a dedicated worker: `Level` with the engine that it has
 * in Node. One worker at a time may have it open.
 *
 * Reads and most writes finish within the call. An acknowledged write survives the end of the tab and of the browser. With the option
 * `sync`, it also survives a loss of power.
 *
 * @typeParam KDefault - The default type of keys.
 * @typeParam VDefault - The default type of values.
 */
export class Level<KDefault = string, VDefault = string> extends BackendLevel<KDefault, VDefault> {
  readonly #location: string

  /**
   * Makes an instance, and starts to open the database. Await {@link open} to learn whether that succeeds.
   *
   * @param location - The name of the database among those of the origin: any text.
   * @param options - Options of the database, and of {@link open}, which is called automatically.
   * @throws TypeError if `location` is not a text.
   */
  constructor(location: string, options?: DatabaseOptions<KDefault, VDefault> | undefined) {
    if (typeof location !== 'string' || location === '') {
      throw new TypeError("The first argument 'location' must be a non-empty string")
    }
    super(new StoreBackend(location, loadStore), options)
    this.#location = location
  }

  /** The location as it was passed to the constructor. */
  get location(): string {
    return this.#location
  }
}

// Methods that terrace-core implements, with types that include the options of this class.
// biome-ignore lint/correctness/noUnusedVariables: both declarations of a class name the same parameters
export interface Level<KDefault, VDefault> {
  open(): Promise<void>
  open(options: OpenOptions): Promise<void>
}
