import { mkdirSync } from 'node:fs'
import { MemoryLevel } from 'terrace'

/** The benchmark looks into the directory of each database, and finds nothing in this one. */
export class Database extends MemoryLevel {
  constructor(location, options) {
    mkdirSync(location, { recursive: true })
    super(options)
  }
}
