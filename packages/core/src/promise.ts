/**
 * Whether a result of a back-end comes later. In a separate context, such as that of Jest's tests, the addon's promises are not
 * instances of `Promise`; results are bytes, lists and booleans, none of which has a `then`.
 */
export function isPromise<T>(result: T | Promise<T>): result is Promise<T> {
  return typeof (result as { then?: unknown } | undefined)?.then === 'function'
}
