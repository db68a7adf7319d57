// Development servers find no names behind `export *` of CommonJS.

export type * from './index.js'
export {
  copy,
  dump,
  dumpBytes,
  restore,
  verifyDump
} from './index.js'
