/** Node's buffers. In a browser, those of the package `buffer`, which abstract-level needs there as well. */

export { Buffer } from 'buffer'
