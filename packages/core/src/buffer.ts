/**
 * Node's buffers. In a browser, those of the package `buffer`, which abstract-level needs there as well: bundlers find it by this
 * name, without `node:`.
 */

export { Buffer } from 'buffer'
