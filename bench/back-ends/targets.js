// The databases that are compared: each is a package, or a module that exports its class as `Database`.

import { fileURLToPath } from 'node:url'
import { cluster, durableServer, durableServerOfMysql, objectStore } from '../../tests/back-ends/servers.js'

/** @typedef {{ name: string, from: string, server?: import('../../tests/back-ends/targets.js').Server }} Target */

const module = (name) => fileURLToPath(new URL(`targets/${name}.js`, import.meta.url))

/** @type {Target[]} */
export const targets = [
  { name: 'Level', from: 'terrace' },
  { name: 'MemoryLevel', from: module('memory') },
  { name: 'LmdbLevel', from: 'terrace-lmdb' },
  { name: 'MysqlLevel', from: module('mysql'), server: durableServer },
  { name: 'MysqlLevel on MySQL', from: module('mysql-on-mysql'), server: durableServerOfMysql },
  { name: 'MysqlLevel on a cluster', from: module('cluster'), server: cluster },
  { name: 'SlateLevel', from: 'terrace-slatedb' },
  { name: 'SlateLevel on S3', from: module('slate-on-s3'), server: objectStore },
  { name: 'NetLevel in front of Level', from: module('net-level') },
  { name: 'NetLevel in front of MemoryLevel', from: module('net-memory') }
]
