/**
 * The package as an ES module. It exports what the CommonJS module exports, so there is one `SlateLevel` however it is
 * loaded.
 */

export * from './index.js'
