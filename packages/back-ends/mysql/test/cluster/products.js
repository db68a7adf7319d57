// The two servers that tests can start one of: MariaDB, and MySQL if TERRACE_TEST_PRODUCT says so. They differ in where their
// programs are, in how the files of a new server are made, and in some settings.

import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { missing, programs } from './installation.js'

/**
 * @typedef {object} Product
 * @property {string} name
 * @property {() => string | undefined} missing - Why none can be started here.
 * @property {() => string[]} command - What starts the server, without arguments.
 * @property {string[]} arguments - Those of every server of its kind: it is small, and otherwise has the defaults.
 * @property {string} root - Statements that leave no user but those of {@link Server.install}.
 * @property {(server: { directory: string, data: string, users: string }) => string[]} install - A command that makes the files
 * of a new server in the directory `data`, and runs the statements of the file `users`.
 */

/** Sizes that the files are made with, so the installation needs them too. */
const BUFFER_POOL = '--innodb-buffer-pool-size=48M'
const mariadbSizes = [BUFFER_POOL, '--innodb-log-file-size=32M']
const mysqlSizes = [BUFFER_POOL, '--innodb-redo-log-capacity=64M']

/** @type {Product} */
export const mariadb = {
  name: 'MariaDB',
  missing: () =>
    missing({
      [programs.server]: 'mariadb-server',
      [programs.install]: 'mariadb-server',
      [programs.setpriv]: 'util-linux'
    }),
  command: () => [programs.server],
  arguments: mariadbSizes,
  root: '',
  install: ({ directory, data, users }) => [
    programs.install,
    '--no-defaults',
    `--datadir=${data}`,
    // A server that starts removes the temporary tables of others from a directory that they share.
    `--tmpdir=${directory}`,
    `--extra-file=${users}`,
    '--auth-root-authentication-method=socket',
    '--skip-test-db',
    '--skip-name-resolve',
    ...mariadbSizes
  ]
}

/** Where `scripts/setup mysql` unpacks it. */
const unpacked = fileURLToPath(new URL('../../../../../target/mysql/system/usr/', import.meta.url))

/**
 * A program that was unpacked with its libraries runs by their loader, because those of this system may be older.
 *
 * @returns {string[]}
 */
function unpackedCommand(program) {
  const all = join(unpacked, 'lib')
  const libraries = join(
    all,
    readdirSync(all).find((name) => name.endsWith('-linux-gnu'))
  )
  const loader = readdirSync(libraries).find((name) => /^ld-linux.*\.so\.\d+$/.test(name))
  return [join(libraries, loader), '--library-path', libraries, join(unpacked, 'sbin', program)]
}

const mysqlArguments = [
  `--basedir=${unpacked}`,
  `--lc-messages-dir=${join(unpacked, 'share/mysql')}`,
  '--secure-file-priv=NULL',
  '--mysqlx=OFF',
  ...mysqlSizes
]

/** @type {Product} */
export const mysql = {
  name: 'MySQL',
  missing: () =>
    existsSync(join(unpacked, 'sbin/mysqld'))
      ? missing({ [programs.setpriv]: 'util-linux' })
      : 'this machine lacks MySQL (scripts/setup mysql unpacks it on Debian)',
  command: () => unpackedCommand('mysqld'),
  arguments: mysqlArguments,
  root: 'ALTER USER root@localhost ACCOUNT LOCK;',
  install: ({ directory, data, users }) => [
    ...unpackedCommand('mysqld'),
    '--no-defaults',
    '--initialize-insecure',
    `--datadir=${data}`,
    `--tmpdir=${directory}`,
    `--init-file=${users}`,
    ...mysqlArguments
  ]
}

/** The product of which tests start one server. A cluster is always one of MariaDB. */
export const theProduct = process.env.TERRACE_TEST_PRODUCT === mysql.name ? mysql : mariadb
