/**
 * The package as an ES module. It exports what the CommonJS module exports, so there is one `MysqlLevel` however it is
 * loaded.
 */

export * from './index.js'
