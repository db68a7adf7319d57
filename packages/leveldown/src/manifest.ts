/** What databases can do, in the form of level-supports 2, which levelup 5 expects. */

import type { LevelDownManifest } from './types.js'

/** @param more - What a kind of database has beyond the others. */
export function manifest(more: Partial<LevelDownManifest>): LevelDownManifest {
  return {
    bufferKeys: true,
    snapshots: true,
    permanence: false,
    seek: true,
    clear: true,
    getMany: true,
    keyIterator: false,
    valueIterator: false,
    iteratorNextv: false,
    iteratorAll: false,
    status: true,
    idempotentOpen: false,
    passiveOpen: false,
    serialize: false,
    createIfMissing: false,
    errorIfExists: false,
    deferredOpen: false,
    openCallback: false,
    promises: false,
    streams: false,
    encodings: false,
    events: false,
    additionalMethods: {},
    ...more
  }
}
