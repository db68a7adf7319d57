import { readsAtOnce } from '../hooks.js'
import type { AnyLevel } from '../level-like.js'

/** What the view can do: what the database can, except for what is not forwarded. */
export function manifestOf(db: AnyLevel): object {
  const { encodings } = db.supports
  const isNative = (name: string): boolean =>
    encodings[name] === true && db.keyEncoding(name as 'utf8').name === name

  return {
    ...db.supports,
    createIfMissing: false,
    errorIfExists: false,
    events: {},
    additionalMethods: {},
    // The view's own hooks are those of abstract-level.
    everyWrite: false,
    getSyncInHooks: readsAtOnce(db),
    encodings: { utf8: isNative('utf8'), buffer: isNative('buffer'), view: isNative('view') }
  }
}
