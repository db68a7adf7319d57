/**
 * Node's buffers. In a browser, those of the package `buffer`, which abstract-level needs there as well: bundlers find it by this
 * name, without `node:`.
 */

import { Buffer as Imported } from 'buffer'

/** A constant: a name that is exported again is a getter in CommonJS, which makes `instanceof` take twice as long. */
export const Buffer = Imported
export type Buffer = Imported
