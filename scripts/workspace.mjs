// The packages of the workspace, which the manifests list: in which order they need each other, and what each needs.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The root of the repository. */
export const root = fileURLToPath(new URL('..', import.meta.url))

/**
 * A package of the workspace.
 *
 * @typedef {object} Package
 * @property {string} directory - Such as `packages/back-ends/lmdb`, with forward slashes on every system.
 * @property {string} name - As npm knows it.
 * @property {Record<string, any>} manifest
 */

/**
 * All packages, those first that others depend on. What only tests need does not count: it goes in circles.
 *
 * @param at - The root of a checkout.
 * @returns {Package[]}
 */
export function packagesIn(at = root) {
  const { workspaces } = readManifest(at)
  const all = workspaces
    .flatMap((pattern) => directoriesOf(at, pattern))
    .map((directory) => {
      const manifest = readManifest(join(at, directory))
      return { directory, name: manifest.name, manifest }
    })
  return withNeeded(all, all, dependenciesOf)
}

/**
 * A package and those of the workspace that it needs, those first that others depend on.
 *
 * @param {Package} one
 * @param {{ forTests?: boolean }} [options] - Whether to include what its tests need.
 * @returns {Package[]}
 */
export function neededBy(one, { forTests = false } = {}) {
  const all = packagesIn()
  const direct = forTests ? all.filter(({ name }) => name in (one.manifest.devDependencies ?? {})) : []
  const needsOf = forTests ? (each) => [...dependenciesOf(each), ...peersOf(each)] : dependenciesOf
  return withNeeded([...direct, one], all, needsOf)
}

/** The packages, after those of `all` that they need. */
function withNeeded(packages, all, needsOf) {
  const found = new Set()
  const entered = new Set()
  const visit = (one) => {
    if (entered.has(one)) return
    entered.add(one)
    for (const name of needsOf(one)) {
      const needed = all.find((each) => each.name === name)
      if (needed !== undefined) visit(needed)
    }
    found.add(one)
  }
  for (const one of packages) visit(all.find(({ name }) => name === one.name))
  return [...found]
}

function dependenciesOf({ manifest }) {
  return Object.keys(manifest.dependencies ?? {})
}

function peersOf({ manifest }) {
  return Object.keys(manifest.peerDependencies ?? {})
}

/** The directories that an entry of `workspaces` stands for: a path, or a directory with a star for each one in it. */
function directoriesOf(at, pattern) {
  if (!pattern.endsWith('/*')) return [pattern]
  const parent = pattern.slice(0, -2)
  return readdirSync(join(at, parent))
    .sort()
    .map((name) => `${parent}/${name}`)
    .filter((directory) => existsSync(join(at, directory, 'package.json')))
}

function readManifest(directory) {
  return JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'))
}
