// Builds what has changed of packages, and of those that they need. What is up to date costs a second.
//
//   node scripts/build.mjs    in a package: this one; elsewhere: all, with what browsers load

import { spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync
} from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isStale } from './built-files.mjs'
import { bundle } from './bundle.mjs'
import { BUNDLES } from './bundles.mjs'
import { neededBy, packagesIn, root } from './workspace.mjs'

const TERRACE = 'packages/terrace'
const CLI = 'packages/cli'
/** Where the compiler remembers what it built, beside that. */
const STATE = '.tsbuildinfo'
/** npm writes this file last. */
const INSTALLED = join(root, 'node_modules', '.package-lock.json')

/**
 * Builds packages, those that they need included.
 *
 * @param {import('./workspace.mjs').Package[]} packages
 * @param {string[]} forBrowsers - The directories of those whose bundles and WebAssembly are built as well.
 */
export async function build(packages, forBrowsers) {
  const directories = packages.map(({ directory }) => directory)
  if (directories.includes(TERRACE)) runNode('packages/terrace/scripts/build-native.mjs')
  compile(directories)
  if (forBrowsers.includes(TERRACE)) runNode('packages/terrace/scripts/build-browser.mjs')
  for (const name of Object.keys(BUNDLES)) {
    if (forBrowsers.includes(`packages/${name}`)) await bundle(name)
  }
}

/** Builds what the tests of a package need. */
export function buildForTests(one) {
  const packages = neededBy(one, { forTests: true })
  const directories = packages.map(({ directory }) => directory)
  if (directories.includes(TERRACE)) runNode('packages/terrace/scripts/build-native.mjs')
  // Its tests run the engine of browsers.
  if (one.directory === TERRACE) runNode('packages/terrace/scripts/build-browser.mjs')
  if (one.directory === CLI) runNode('scripts/build-program.mjs', '--debug')
  compile(directories)
}

/** Compiles packages, and removes what was built of sources that are gone. */
function compile(directories) {
  if (directories.includes(CLI)) sharePlatforms()
  for (const directory of directories) tidy(join(root, directory))
  const projects = directories.flatMap((directory) =>
    ['tsconfig.json', 'tsconfig.browser.json']
      .map((file) => `${directory}/${file}`)
      .filter((file) => existsSync(join(root, file)))
  )
  if (projects.length > 0) runNode('node_modules/typescript/bin/tsc', '--build', ...projects)
  for (const directory of directories) markModules(directory)
}

/**
 * Removes from the `dist` of a package what has no source any more. If something is missing there, or npm has installed other packages
 * since, the compiler forgets that it built it: it looks at neither.
 */
export function tidy(packageDirectory) {
  const dist = join(packageDirectory, 'dist')
  for (const file of filesIn(dist)) {
    if (isStale(packageDirectory, file)) rmSync(join(dist, file))
  }
  const isMissing = filesIn(join(packageDirectory, 'src'))
    .filter((file) => /\.m?ts$/.test(file))
    .some((file) => !existsSync(join(dist, file.replace(/ts$/, 'js'))))
  for (const state of [join(dist, STATE), join(dist, 'browser', STATE)]) {
    if (isMissing || changed(state) < changed(INSTALLED)) rmSync(state, { force: true })
  }
}

/** When a file was changed last, if it is there. */
function changed(file) {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0
}

function filesIn(directory) {
  if (!existsSync(directory)) return []
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) =>
      relative(directory, join(entry.parentPath ?? entry.path, entry.name)).replaceAll('\\', '/')
    )
}

/** What is built for browsers is ES modules, as the rest of a package is not. */
function markModules(directory) {
  const isForBrowsers =
    existsSync(join(root, directory, 'tsconfig.browser.json')) ||
    directory.slice('packages/'.length) in BUNDLES
  if (isForBrowsers) writeChanged(`${directory}/dist/browser/package.json`, '{ "type": "module" }\n')
}

/** Gives terrace-cli the list of platforms of terrace's loader: their sources are one file, but neither package needs the other. */
function sharePlatforms() {
  writeChanged(`${CLI}/src/platform.ts`, readFileSync(join(root, TERRACE, 'src/platform.ts'), 'utf8'))
}

/** Writes a file that is not so already: the compiler looks at the time of the last change. */
function writeChanged(file, text) {
  const path = join(root, file)
  if (existsSync(path) && readFileSync(path, 'utf8') === text) return
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

/** Runs a program, and ends this one if it fails. */
function runNode(...args) {
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}

async function main() {
  const all = packagesIn()
  const here = relative(root, process.cwd()).replaceAll('\\', '/')
  const one = all.find(({ directory }) => directory === here)
  const directories = (one === undefined ? all : [one]).map(({ directory }) => directory)
  await build(one === undefined ? all : neededBy(one), directories)
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) await main()
