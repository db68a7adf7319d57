// What this machine has of MariaDB and Galera, and as whom a server runs.

import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'

/** Where Debian's packages install what is used here. `setpriv` is a part of util-linux. */
export const programs = {
  server: '/usr/sbin/mariadbd',
  install: '/usr/bin/mariadb-install-db',
  setpriv: '/usr/bin/setpriv'
}

/** The library that makes a server a node of a cluster. */
export const galeraLibrary = '/usr/lib/galera/libgalera_smm.so'

const forCluster = {
  [galeraLibrary]: 'galera-4',
  '/usr/bin/wsrep_sst_rsync': 'mariadb-server',
  '/usr/bin/rsync': 'rsync',
  '/usr/bin/socat': 'socat'
}

/** The user that Debian's package makes for the server. */
const SERVER_USER = 'mysql'

/**
 * A command that runs as the server's user if this program runs as root, as a server should, and whose transfers of state only
 * then find their files.
 *
 * @param more - Further arguments of setpriv.
 */
export function asServerUser(command, more = []) {
  const user = isRoot() ? [`--reuid=${SERVER_USER}`, `--regid=${SERVER_USER}`, '--clear-groups'] : []
  return [programs.setpriv, ...user, ...more, '--', ...command]
}

/** Gives a directory to the server's user. */
export function giveToServerUser(path) {
  if (isRoot()) execFileSync('chown', [`${SERVER_USER}:${SERVER_USER}`, path])
}

const isRoot = () => process.getuid() === 0

/** Why a node of MariaDB cannot become one of a cluster here, or undefined if it can. */
export const galeraMissing = () => missing(forCluster)

/**
 * Why something cannot be started here, or undefined if it can.
 *
 * @param wanted - Paths, each with Debian's package for it.
 */
export function missing(wanted) {
  const packages = new Set(
    Object.keys(wanted)
      .filter((path) => !existsSync(path))
      .map((path) => wanted[path])
  )
  if (packages.size === 0) return undefined
  return `this machine lacks ${[...packages].join(', ')} (scripts/setup tests installs them on Debian)`
}
