import { createHash } from 'node:crypto'
import { MysqlLevel } from 'terrace-mysql'
import { known } from '../../../packages/back-ends/mysql/test/common/known.js'
import { cluster, clusterUrl, oneServer, oneServerOfMysql, serverUrl, urlOfMysql } from '../servers.js'

/** The name of the database of a location. */
const nameOf = (location) => createHash('sha1').update(location).digest('hex')

/** abstract-level's suite opens a hundred snapshots at once, and each has a connection. */
const open = (url, location, options) =>
  new MysqlLevel(url, { name: nameOf(location), poolSize: 160, ...options })

/** @type {import('../targets.js').Target} */
export const mysql = {
  name: 'MysqlLevel',
  machines: 'any number, one server',
  supports: { getSync: false, putSync: false, everyWrite: false },
  make: (location, options) => open(serverUrl(), location, options),
  several: {},
  server: oneServer,
  known: { core: known.core }
}

/** The only writer, as it says, so that hooks see every write. @type {import('../targets.js').Target} */
export const mysqlAlone = {
  ...mysql,
  name: 'MysqlLevel, `shared: false`',
  supports: { ...mysql.supports, everyWrite: true },
  make: (location, options) => open(serverUrl(), location, { ...options, shared: false }),
  known
}

/** @type {import('../targets.js').Target} */
export const mysqlOnMysql = {
  ...mysql,
  name: 'MysqlLevel on MySQL',
  make: (location, options) => open(urlOfMysql(), location, options),
  server: oneServerOfMysql
}

/** @type {import('../targets.js').Target} */
export const mysqlOnMysqlAlone = {
  ...mysqlAlone,
  name: 'MysqlLevel on MySQL, `shared: false`',
  make: (location, options) => open(urlOfMysql(), location, { ...options, shared: false }),
  server: oneServerOfMysql
}

/** @returns {import('../targets.js').Target} */
const onNode = (index) => ({
  ...mysql,
  name: `MysqlLevel on node ${index + 1} of a cluster`,
  machines: 'any number, three servers',
  make: (location, options) => open(clusterUrl(index), location, options),
  server: cluster
})

/** @type {import('../targets.js').Target[]} */
export const mysqlOnNodes = [0, 1, 2].map(onNode)
