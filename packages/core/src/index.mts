/** The package as an ES module: what the CommonJS module exports, so that there is one `BackendLevel` however it is loaded. */

export * from './index.js'
