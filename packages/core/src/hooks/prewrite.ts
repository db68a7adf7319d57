/** The types of prewrite hook functions: the function that users write, and the batch that it gets. */

/** The batch of the operation that a hook function was called for. The function can add operations to it. */
export interface PrewriteBatch<TOperation = object> {
  /**
   * Adds an operation, in the form that `batch([])` takes. It is validated and encoded within the call, and written in the same
   * batch: after all operations that the caller passed or, if a function with `everyWrite` adds it, right after the operation
   * that the function was called for.
   *
   * @throws the errors of `batch()` if the operation is not valid.
   * @throws LEVEL_BATCH_NOT_OPEN if the function has already returned.
   */
  add(operation: TOperation): this
  /**
   * Stops the function, which is called again for the same operation once the promise has settled. If the promise is rejected,
   * this method throws its error in that second call. Only databases whose functions can wait have this method: those with
   * `supports.getSyncInHooks`, but not `supports.getSync`.
   *
   * @throws LEVEL_NOT_SUPPORTED if the function cannot wait.
   */
  waitFor?(promise: Promise<unknown>): never
}

/**
 * A function that sees each operation before it is written, and may change it. It must be synchronous: if it returns a promise,
 * the write fails with LEVEL_HOOK_ERROR.
 */
// biome-ignore lint/suspicious/noExplicitAny: an operation has the types of whichever database it was given to
export type PrewriteFunction = (operation: any, batch: PrewriteBatch<any>) => void

/** A function that reads ahead; see {@link PrewriteOptions.prepare}. */
// biome-ignore lint/suspicious/noExplicitAny: see above
export type PrepareFunction = (operation: any) => void

/** Options of `hooks.prewrite.add()`. */
export interface PrewriteOptions {
  /**
   * Whether to call the function for every write to the keys of its database or sublevel, however the write is made: through
   * another object of the same name, a sublevel below, the option `sublevel`, another hook function, or `clear()`. The function
   * is called after those without this option. Operations that it adds are written right after the operation for which it was
   * called. Use it to keep something consistent with the entries, such as an index.
   *
   * Without it, the function is called only for writes through this object, as abstract-level documents.
   *
   * @defaultValue `false`
   */
  everyWrite?: boolean | undefined
  /**
   * Announces what a function with `everyWrite` will read for an operation, by calling `getSync()` for each key. It is used only
   * by databases that cannot read synchronously: they call it for several operations before the function, and read everything
   * that it requests together. It may be called several times per operation, and does not see earlier operations. Its errors are
   * ignored. It must have no side effects.
   */
  prepare?: PrepareFunction | undefined
}
