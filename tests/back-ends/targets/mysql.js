import { createHash } from 'node:crypto'
import { MysqlLevel } from 'terrace-mysql'
import { known } from '../known/mysql.js'
import { cluster, clusterUrl, oneServer, oneServerOfMysql, serverUrl, urlOfMysql } from '../servers.js'

/** The name of the database of a location. */
const nameOf = (location) => createHash('sha1').update(location).digest('hex')

/** abstract-level's suite opens a hundred snapshots at once, and each has a connection. */
const open = (url, location, options) =>
  new MysqlLevel(url, { name: nameOf(location), poolSize: 160, ...options })

/** Used by any number of processes. @returns {import('../targets.js').Target} */
const shared = (name, url, server) => ({
  name,
  machines: 'any number, one server',
  supports: { getSync: false, putSync: false, everyWrite: false },
  make: (location, options) => open(url(), location, options),
  several: {},
  server,
  known: { core: known.core }
})

/** The only writer, as it says, so that hooks see every write. @returns {import('../targets.js').Target} */
const alone = (name, url, server) => ({
  ...shared(`${name}, \`shared: false\``, url, server),
  supports: { getSync: false, putSync: false, everyWrite: true },
  make: (location, options) => open(url(), location, { ...options, shared: false }),
  known
})

export const mysql = shared('MysqlLevel', serverUrl, oneServer)
export const mysqlAlone = alone('MysqlLevel', serverUrl, oneServer)
export const mysqlOnMysql = shared('MysqlLevel on MySQL', urlOfMysql, oneServerOfMysql)
export const mysqlOnMysqlAlone = alone('MysqlLevel on MySQL', urlOfMysql, oneServerOfMysql)

/** Each node of a cluster. A client uses one, and all are alike. */
export const mysqlOnNodes = [0, 1, 2].map((index) => ({
  ...shared(`MysqlLevel on node ${index + 1} of a cluster`, () => clusterUrl(index), cluster),
  ...(index > 0 && { repeats: 'all' }),
  machines: 'any number, three servers'
}))
