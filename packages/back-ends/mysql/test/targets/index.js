// What tests/back-ends runs over, and bench/back-ends measures.

import { createHash } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { MysqlLevel } from 'terrace-mysql'
import {
  cluster,
  clusterUrl,
  durableServer,
  durableServerOfMysql,
  oneServer,
  oneServerOfMysql,
  serverUrl,
  urlOfMysql
} from './servers.js'

/** @type {Record<string, import('../../../../../tests/support/known.mjs').Known[]>} */
const known = {
  core: [
    {
      test: '80 random histories of writes',
      reason: 'its many snapshots can use up the connections of the pool (LEVEL_POOL_EXHAUSTED)',
      is: 'may fail'
    }
  ],
  ttl: [{ test: 'histories at random with a view', reason: 'it takes minutes', is: 'left out' }]
}

/** The name of the database of a location. */
const nameOf = (location) => createHash('sha1').update(location).digest('hex')

/** abstract-level's suite opens a hundred snapshots at once, and each has a connection. */
const open = (url, location, options) =>
  new MysqlLevel(url, { name: nameOf(location), poolSize: 160, ...options })

/** Used by any number of processes. @returns {import('../../../../../tests/back-ends/targets.js').Target} */
const shared = (name, url, server) => ({
  name,
  machines: 'any number, one server',
  supports: { getSync: false, putSync: false, everyWrite: false, conditionalWrites: false },
  make: (location, options) => open(url(), location, options),
  several: {},
  server,
  known: { core: known.core }
})

/** The only writer, as it says, so that hooks see every write. @returns {import('../../../../../tests/back-ends/targets.js').Target} */
const alone = (name, url, server) => ({
  ...shared(`${name}, \`shared: false\``, url, server),
  supports: { getSync: false, putSync: false, everyWrite: true, conditionalWrites: false },
  make: (location, options) => open(url(), location, { ...options, shared: false }),
  known
})

/** A server, and both ways to use it. */
const both = (name, url, server, more = {}) => ({
  ...shared(name, url, server),
  ...more,
  alone: { ...alone(name, url, server), ...more }
})

/** Each node of a cluster. A client uses one, and all are alike. */
const nodes = [0, 1, 2].map((index) => ({
  ...shared(`MysqlLevel on node ${index + 1} of a cluster`, () => clusterUrl(index), cluster),
  ...(index > 0 && { repeats: 'all' }),
  machines: 'any number, three servers',
  isVariant: true
}))

export const targets = [
  both('MysqlLevel', serverUrl, oneServer),
  both('MysqlLevel on MySQL', urlOfMysql, oneServerOfMysql, { isVariant: true }),
  ...nodes
]

const module = (name) => fileURLToPath(new URL(`${name}.js`, import.meta.url))

/** @type {import('../../../../../tests/back-ends/targets.js').Measured[]} */
export const measured = [
  { name: 'MysqlLevel', from: module('measured'), server: durableServer },
  { name: 'MysqlLevel on MySQL', from: module('measured-on-mysql'), server: durableServerOfMysql },
  { name: 'MysqlLevel on a cluster', from: module('measured-on-cluster'), server: cluster }
]
