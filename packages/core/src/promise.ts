/**
 * Whether a result of a back-end comes later. In a context of its own, such as Jest's tests, the addon's promises are not instances
 * of `Promise`; results are bytes, lists and truth values, none of which has a `then`.
 */
export function isPromise<T>(result: T | Promise<T>): result is Promise<T> {
  return typeof (result as { then?: unknown } | undefined)?.then === 'function'
}
