// Databases in a running server or cluster, one name for each directory that the benchmark makes.

import { createHash } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { MysqlLevel } from 'terrace-mysql'

/** A class of databases at the address that a function returns. */
export function mysqlClass(url) {
  return class extends MysqlLevel {
    constructor(location, options) {
      mkdirSync(location, { recursive: true })
      super(url(), { ...options, name: createHash('sha1').update(location).digest('hex') })
    }
  }
}
