// What is published, in which order, and how: the one list, for the workflow release.yml and for the rehearsal.
//
//   node scripts/publish.mjs npm | cargo | gem          publishes what `scripts/release` has packed, from a commit with the version's tag
//   node scripts/publish.mjs names npm | cargo | gem    prints the names of the packages, in their order
//   node scripts/publish.mjs check                      fails unless the commit has the version's tag
//
// A package that a registry has in this version already is left alone, so a command can be repeated after a failure.

import { execFile, execFileSync, spawn } from 'node:child_process'
import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { PLATFORMS } from '../packages/terrace/scripts/platforms.mjs'
import { NATIVE_PACKAGES, platformManifest } from './manifests.mjs'
import { commandOf } from './npm.mjs'
import { versionOf } from './version.mjs'
import { packagesIn, root } from './workspace.mjs'

/** Where `scripts/release pack` puts what it makes. */
export const OUT = join(root, 'target', 'publish')

const version = versionOf(root)
/** No command of a registry takes so long, but when it hangs. */
const LONGEST_MS = 600_000

/** Cargo's name of its public registry. */
const CRATES_IO = 'crates-io'
/** The public registries, which their clients know. */
const PUBLIC = { registry: null }

/**
 * Something that is published.
 *
 * @typedef {object} Published
 * @property {string} name
 * @property {string} version
 * @property {string} [platform] - If it is for one platform: which.
 * @property {string} [file] - Its archive. Cargo packs crates itself.
 *
 * @typedef {object} Target
 * @property {string | null} registry - An address, or Cargo's name of a registry; null for the public one.
 * @property {Record<string, string>} [environment] - For the registry's client.
 * @property {boolean} [allowDirty] - Whether Cargo may publish what is not committed.
 *
 * @typedef {object} Kind
 * @property {string} title
 * @property {() => Published[]} packages - Those first that others need.
 * @property {(one: Published, target: Target) => string[]} command - Publishes one.
 * @property {(one: Published, target: Target) => Promise<boolean>} isPublished
 */

/** @type {Record<'npm' | 'cargo' | 'gem', Kind>} */
export const KINDS = {
  npm: {
    title: 'npm',
    packages: () =>
      packagesIn().flatMap(({ directory, name }) => [...platformsOf(directory), npmPackage(name)]),
    command: ({ file }, { registry }) => [
      ...commandOf(process),
      'publish',
      file,
      '--access=public',
      ...(registry ? [`--registry=${registry}`] : [])
    ],
    isPublished: async ({ name, version }, { registry, environment }) => {
      const at = registry ? [`--registry=${registry}`] : []
      const query = [...commandOf(process), 'view', `${name}@${version}`, 'version', '--json', ...at]
      const { status, stdout, stderr } = await ask(query, environment)
      if (status === 0) return stdout.trim() !== ''
      if (stdout.includes('"E404"')) return false
      throw new Error(`${query.join(' ')} failed:\n${stderr}`)
    }
  },
  cargo: {
    title: 'crates.io',
    packages: publishedCrates,
    // `scripts/release pack` has compiled each crate from its archive.
    command: ({ name }, { registry, allowDirty }) => [
      'cargo',
      'publish',
      `--package=${name}`,
      `--registry=${registry ?? CRATES_IO}`,
      '--locked',
      '--no-verify',
      ...(allowDirty ? ['--allow-dirty'] : [])
    ],
    isPublished: async ({ name, version }, { registry, environment }) => {
      const query = ['cargo', 'info', `${name}@${version}`, `--registry=${registry ?? CRATES_IO}`]
      const { status, stderr } = await ask(query, environment)
      if (status === 0) return true
      if (/could not find/.test(stderr)) return false
      throw new Error(`${query.join(' ')} failed:\n${stderr}`)
    }
  },
  gem: {
    title: 'RubyGems',
    packages: () => {
      const name = 'terrace-leveldb'
      return [{ name, version, file: join(OUT, 'gem', `${name}-${version}.gem`) }]
    },
    command: ({ file }, { registry }) => ['gem', 'push', file, ...(registry ? ['--host', registry] : [])],
    isPublished: async ({ name, version }, { registry, environment }) => {
      const at = registry ? ['--clear-sources', '--source', registry] : []
      const query = ['gem', 'list', '--remote', '--exact', '--all', ...at, name]
      const { status, stdout, stderr } = await ask(query, environment)
      if (status !== 0) throw new Error(`${query.join(' ')} failed:\n${stderr}`)
      return new RegExp(`^${name} \\((.*, )?${version.replaceAll('.', '\\.')}[,)]`, 'm').test(stdout)
    }
  }
}

/**
 * Publishes packages, one after another.
 *
 * @param {Kind} kind
 * @param {Published[]} packages
 * @param {Target} target
 * @param {(line: string) => void} tell - What happens, a line each.
 */
export async function publish(kind, packages, target, tell) {
  if (target.registry === undefined) throw new Error('Name the registry to publish to')
  const missing = packages.filter(({ file }) => file !== undefined && !existsSync(file))
  if (missing.length > 0) {
    const names = missing.map(({ name }) => name).join(', ')
    throw new Error(`These are not packed: ${names}. Run "make prebuilds" and "scripts/release pack" first`)
  }
  for (const one of packages) {
    const command = kind.command(one, target)
    tell(command.join(' ').replaceAll(root, ''))
    const { status, output } = await run(command, target.environment)
    if (status === 0) continue
    if (await kind.isPublished(one, target)) tell(`${one.name} ${one.version} was published before`)
    else
      throw new Error(`${one.name} is not published: ${command.join(' ')} ended with ${status}:\n${output}`)
  }
}

function npmPackage(name, platform) {
  const file = join(OUT, 'npm', `${name.replace('@', '').replace('/', '-')}-${version}.tgz`)
  return { name, version, file, ...(platform && { platform }) }
}

/** The packages of the platforms of the package in `directory`, which asks for them. */
function platformsOf(directory) {
  const native = NATIVE_PACKAGES.find((each) => directory === `packages/${each}`)
  if (native === undefined) return []
  return Object.keys(PLATFORMS).map((platform) =>
    npmPackage(platformManifest(native, platform).name, platform)
  )
}

/** The crates that are not kept from being published, those first that others depend on. */
function publishedCrates() {
  const metadata = execFileSync('cargo', ['metadata', '--format-version=1', '--no-deps'], { cwd: root })
  const all = JSON.parse(metadata.toString()).packages.filter(({ publish }) => publish === null)
  const found = new Set()
  const visit = (crate) => {
    for (const { name } of crate.dependencies.filter(({ kind }) => kind !== 'dev')) {
      const needed = all.find((each) => each.name === name)
      if (needed !== undefined) visit(needed)
    }
    found.add(crate)
  }
  for (const crate of all) visit(crate)
  return [...found].map(({ name, version }) => ({ name, version }))
}

/** Runs a program to its end. */
function run([program, ...args], environment) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd: root,
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: LONGEST_MS
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        output += text
      })
    }
    child.on('error', reject).on('close', (status) => resolve({ status, output }))
  })
}

/** Runs a program that answers a question. A directory of ours would have Cargo and npm answer with what is in it. */
async function ask([program, ...args], environment) {
  try {
    const options = { cwd: tmpdir(), env: { ...process.env, ...environment }, timeout: LONGEST_MS }
    return { status: 0, ...(await promisify(execFile)(program, args, options)) }
  } catch (error) {
    if (error.code === 'ENOENT') throw new Error(`${program} is missing: install it`)
    return { status: error.code, stdout: error.stdout, stderr: error.stderr }
  }
}

/** Fails unless the commit that is checked out has the tag of the version. */
function checkTag() {
  if (git('tag', '--points-at', 'HEAD').split('\n').includes(`v${version}`)) return
  throw new Error(
    `This commit has no tag v${version}, the version in Cargo.toml: RELEASING.md says how it gets one`
  )
}

/** Fails unless the archives are of the commit that is checked out. */
function checkPacked() {
  const file = join(OUT, 'commit')
  const packed = existsSync(file) ? readFileSync(file, 'utf8').trim() : 'no commit'
  const head = git('rev-parse', 'HEAD')
  if (packed === head) return
  throw new Error(`${OUT} has archives of ${packed}, and this is ${head}: run "scripts/release tagged" first`)
}

function git(...args) {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()
}

async function main([first, second]) {
  if (first === 'check') return checkTag()
  const name = first === 'names' ? second : first
  if (!Object.hasOwn(KINDS, name ?? '')) {
    throw new Error(`usage: node scripts/publish.mjs check | [names] ${Object.keys(KINDS).join('|')}`)
  }
  const kind = KINDS[name]
  if (first === 'names') {
    for (const one of kind.packages()) console.log(one.name)
    return
  }
  checkTag()
  checkPacked()
  await publish(kind, kind.packages(), PUBLIC, console.log)
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  try {
    await main(process.argv.slice(2))
  } catch (error) {
    console.error(`publish: ${error.message}`)
    process.exitCode = 1
  }
}
