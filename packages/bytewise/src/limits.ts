/** The limits of this package. */

/** How deep arrays, sets and maps may be nested. Bytes from outside cannot exhaust the stack. */
export const MAX_DEPTH = 1000

/** The size of an encoded key. It is what Terrace's engine takes. */
export const MAX_KEY_SIZE_BYTES = 64 * 1024 * 1024
