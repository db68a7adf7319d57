// Development servers find no names behind `export *` of CommonJS.

export type * from './index.js'
export { index } from './index.js'
