// Development servers find no names behind `export *` of CommonJS.

export type * from './index.js'
export { MAX_REMEMBERED_KEYS, transactions } from './index.js'
