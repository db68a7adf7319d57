/** A back-end in front of another one, or of several, of which it chooses one for each call. */

import type {
  Backend,
  BackendCursor,
  BackendManifest,
  BackendReadOptions,
  BackendSnapshot,
  Bytes,
  CursorOptions,
  CursorParts,
  Operations
} from '../backend.js'

/**
 * Forwards all required methods to another back-end. Subclasses implement `open` and `close`. Optional methods are missing, since
 * a target may lack them: without `clear`, for example, a cursor reads the keys and {@link write} deletes them.
 */
export abstract class ForwardingBackend implements Backend {
  abstract readonly manifest: BackendManifest

  /**
   * Returns the back-end that serves a call.
   *
   * @param snapshot - The snapshot of the call. Only the back-end that created it can read from it.
   */
  protected abstract target(snapshot?: BackendSnapshot): Backend

  abstract open(options: object): void | Promise<void>

  abstract close(): void | Promise<void>

  get(key: Bytes, options: BackendReadOptions, snapshot?: BackendSnapshot): ReturnType<Backend['get']> {
    return this.target(snapshot).get(key, options, snapshot)
  }

  getMany(
    keys: Bytes[],
    options: BackendReadOptions,
    snapshot?: BackendSnapshot
  ): ReturnType<Backend['getMany']> {
    return this.target(snapshot).getMany(keys, options, snapshot)
  }

  has(key: Bytes, options: BackendReadOptions, snapshot?: BackendSnapshot): ReturnType<Backend['has']> {
    return this.target(snapshot).has(key, options, snapshot)
  }

  hasMany(
    keys: Bytes[],
    options: BackendReadOptions,
    snapshot?: BackendSnapshot
  ): ReturnType<Backend['hasMany']> {
    return this.target(snapshot).hasMany(keys, options, snapshot)
  }

  write(operations: Operations, sync: boolean): void | Promise<void> {
    return this.target().write(operations, sync)
  }

  cursor(options: CursorOptions, parts: CursorParts, snapshot?: BackendSnapshot): BackendCursor {
    return this.target(snapshot).cursor(options, parts, snapshot)
  }

  snapshot(): BackendSnapshot {
    return this.target().snapshot()
  }
}
