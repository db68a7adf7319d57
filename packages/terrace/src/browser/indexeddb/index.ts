/** The part of a page that only databases in IndexedDB need: a separate script. */

export { IndexedDbBackend } from './backend.js'
export { destroyPlace } from './destroy.js'
export { placeOf } from './place.js'
