import { mkdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { SlateLevel } from 'terrace-slatedb'
import { storeLocation, storeOptions } from './store.js'

/** In the running server of S3, under the path of the directory that the benchmark removes. */
export class Database extends SlateLevel {
  constructor(location, options) {
    mkdirSync(location, { recursive: true })
    super(storeLocation(resolve(location)), { ...options, ...storeOptions() })
  }
}
