/** The part of a page that only databases in IndexedDB need: a script of its own. */

export { IndexedDbBackend } from './backend.js'
export { destroyPlace } from './destroy.js'
export { placeOf } from './place.js'
