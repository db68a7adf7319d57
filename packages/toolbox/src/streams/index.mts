// Development servers find no names behind `export *` of CommonJS.

export type * from './index.js'
export {
  readable,
  readableKeys,
  readableValues,
  webReadable,
  webReadableKeys,
  webReadableValues,
  webWritable,
  writable
} from './index.js'
