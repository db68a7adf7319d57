/** Turns what the user names into what a child process loads. Only this module knows about files and packages. */

import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { UsageError } from '../errors.js'
import { KNOWN } from './known.js'

/**
 * @typedef {object} Target
 * @property {string} name as shown
 * @property {string} module address of the module
 * @property {string | null} adapter address of the module that makes a class from it
 * @property {string | null} className
 * @property {boolean} inMemory
 * @property {object} options of the database
 * @property {{ name: string, version: string }} package
 */

/**
 * @param {string} named `NAME`, or `LABEL=NAME` to use one twice, with different options
 * @param {{ className?: string, inMemory?: boolean, databaseOptions: (name: string) => object }} choices
 * @returns {Target}
 */
export function resolveTarget(named, { className, inMemory, databaseOptions }) {
  const [, label, name] = /** @type {RegExpMatchArray} */ (named.match(/^(?:([^=/\\]+)=)?(.+)$/))
  const known = Object.hasOwn(KNOWN, name) ? KNOWN[name] : undefined
  const file = isPath(name) ? findPath(name) : findPackage(known?.package ?? name)

  return {
    name: label ?? (isPath(name) ? basename(name) : name),
    module: pathToFileURL(file).href,
    adapter: known?.adapter ? new URL(known.adapter, import.meta.url).href : null,
    className: known?.className ?? className ?? null,
    inMemory: known ? known.inMemory === true : inMemory === true,
    options: { ...known?.options, ...databaseOptions(label ?? name) },
    package: packageOf(file)
  }
}

/** @param {string} name */
function isPath(name) {
  return /^\.{0,2}[/\\]|^\.{1,2}$|^[A-Za-z]:[/\\]/.test(name)
}

/** @param {string} path */
function findPath(path) {
  const full = resolve(path)
  try {
    return createRequire(join(full, 'x')).resolve(full)
  } catch {
    const reason = existsSync(full) ? 'it has no entry point; name the file' : 'there is no such file'
    throw new UsageError(`cannot load ${path}: ${reason}`)
  }
}

/** A package installed in the current directory comes first. @param {string} name */
function findPackage(name) {
  for (const from of [join(process.cwd(), 'x'), fileURLToPath(import.meta.url)]) {
    try {
      return createRequire(from).resolve(name)
    } catch {
      // The next directory is tried.
    }
  }
  throw new UsageError(
    `the package ${name} is not installed: run 'npm install ${name}' in this directory. ` +
      `Targets with short names are ${Object.keys(KNOWN).join(', ')}; a path begins with './'.`
  )
}

/** @param {string} file */
function packageOf(file) {
  for (let directory = dirname(file); directory !== dirname(directory); directory = dirname(directory)) {
    const manifest = join(directory, 'package.json')
    if (!existsSync(manifest)) continue
    const { name, version } = JSON.parse(readFileSync(manifest, 'utf8'))
    if (name !== undefined) return { name, version: version ?? 'unknown' }
  }
  return { name: basename(file), version: 'unknown' }
}
