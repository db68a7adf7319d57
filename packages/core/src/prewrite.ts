/** Prewrite hook functions: what users write, and what their functions are called with. */

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
