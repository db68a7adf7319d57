// Real input: the packages that the lock files of this repository name, with their licences and dependencies.

import { readFileSync } from 'node:fs'

const LOCKS = {
  root: '../../../../package-lock.json',
  bench: '../../../../bench/node/package-lock.json',
  clients: '../../package-lock.json'
}

/**
 * A package in a lock file. A lock file has only one of each name and version.
 *
 * @typedef {object} Package
 * @property {string} lock - The lock file.
 * @property {string} name
 * @property {string} version
 * @property {string} license - 'unknown' if the lock file has none.
 * @property {string[]} dependencies - Names, in order.
 */

/**
 * All packages of all lock files.
 *
 * @returns {Package[]}
 */
export function packages() {
  return Object.entries(LOCKS).flatMap(([lock, file]) => {
    const content = JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8'))
    const found = Object.entries(content.packages)
      .filter(([directory, { version }]) => directory.includes('node_modules/') && version)
      .map(([directory, entry]) => packageOf(lock, directory, entry))
    return [...new Map(found.map((one) => [`${one.name}@${one.version}`, one])).values()]
  })
}

const packageOf = (lock, directory, { version, license = 'unknown', dependencies = {} }) => ({
  lock,
  name: directory.split('node_modules/').at(-1),
  version,
  license: String(license),
  dependencies: Object.keys(dependencies).sort()
})
