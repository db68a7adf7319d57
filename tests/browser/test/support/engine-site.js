// What a site has of Level: the module that the package brings, the scripts that it starts, and the engine.

import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const directory = dirname(fileURLToPath(import.meta.resolve('terrace/browser')))

/** The files of the package by their paths. */
export const engineFiles = Object.fromEntries(
  [
    'terrace.js',
    'terrace-indexeddb.js',
    'terrace-worker.js',
    'terrace-broker.js',
    'terrace.wasm',
    'terrace-memory.wasm'
  ].map((name) => [`/terrace/${name}`, readFileSync(join(directory, name))])
)
