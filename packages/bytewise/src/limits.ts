/** The limits of this package. */

/**
 * The maximum depth to which arrays, sets and maps may be nested. It keeps untrusted bytes from exhausting
 * the stack.
 */
export const MAX_DEPTH = 1000

/** The maximum size of an encoded key, in bytes. Terrace's engine has the same limit. */
export const MAX_KEY_SIZE_BYTES = 64 * 1024 * 1024
