/** The limits of this package. */

/** The depth to which arrays, sets and maps may be nested. With it, bytes from outside cannot exhaust the stack. */
export const MAX_DEPTH = 1000

/** The largest size of an encoded key, in bytes. It is the limit of Terrace's engine. */
export const MAX_KEY_SIZE_BYTES = 64 * 1024 * 1024
