/** Node's buffers. In a browser, those of the package `buffer`: bundlers find it by this name, without `node:`. */

export { Buffer } from 'buffer'
