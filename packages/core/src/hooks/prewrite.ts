/** The types of prewrite hook functions: the function that users write, and the batch that it gets. */

/** What a hook function adds operations to: the batch of the operation that it was called for. */
export interface PrewriteBatch<TOperation = object> {
  /**
   * Adds an operation of the form that `batch([])` takes. The operation is checked and encoded within the call, and written in
   * the same batch: after all operations that were given, or, if a function with `everyWrite` adds it, right after the
   * operation that the function was called for.
   *
   * @throws the errors of `batch()` if the operation is not valid.
   * @throws LEVEL_BATCH_NOT_OPEN after the function has returned.
   */
  add(operation: TOperation): this
  /**
   * Ends the function, and has it called again for the same operation once the promise has settled. If that is rejected, this
   * throws its error then. Only databases whose functions can wait have it: those with `supports.getSyncInHooks`, but not
   * `supports.getSync`.
   *
   * @throws LEVEL_NOT_SUPPORTED if the function cannot wait.
   */
  waitFor?(promise: Promise<unknown>): never
}

/**
 * A function that sees each operation before it is written, and may change it. It must finish before it returns: a promise
 * fails the write with LEVEL_HOOK_ERROR.
 */
// biome-ignore lint/suspicious/noExplicitAny: an operation has the types of whichever database it was given to
export type PrewriteFunction = (operation: any, batch: PrewriteBatch<any>) => void

/** A function that reads ahead; see {@link PrewriteOptions.prepare}. */
// biome-ignore lint/suspicious/noExplicitAny: see above
export type PrepareFunction = (operation: any) => void

/** Options of `hooks.prewrite.add()`. */
export interface PrewriteOptions {
  /**
   * Whether to call the function for every write to the keys of the object that it is added to, whichever object the write
   * comes through: another one of the same name, one below, the option `sublevel`, another hook function, `clear()`. The
   * function is called after those without this option, and what it adds is written right after the operation for which it was
   * added. Use it to keep something in step with the entries, such as an index.
   *
   * Without it, a function is called as abstract-level documents: only for writes through this very object.
   *
   * @defaultValue `false`
   */
  everyWrite?: boolean | undefined
  /**
   * For a function with `everyWrite` that reads: calls `getSync()` for what the function will read for an operation. Only a
   * database that cannot read within a call uses it. It calls it before the function, for several operations, and reads together
   * what all of them ask for. It may be called several times for an operation, and sees nothing of the operations before it.
   * What it throws is ignored. It must change nothing.
   */
  prepare?: PrepareFunction | undefined
}
