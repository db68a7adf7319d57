// Empty projects in which our packages are installed as npm would publish them: from archives, without a network and without
// install scripts.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { npm } from '../../scripts/npm.mjs'
import { pack } from '../../scripts/pack.mjs'
import { isShort } from './form.mjs'
import { HANG_MS } from './waiting.mjs'

/** The root of the repository. */
export const root = fileURLToPath(new URL('../..', import.meta.url))

// The settings of an npm that runs a test must not reach the npm and the programs that the test runs.
export const environment = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(npm_|NODE_TEST_CONTEXT$)/i.test(name))
)

/** A directory for projects and archives, which {@link Projects.remove} removes. */
export class Projects {
  #packed = new Map()

  /** @param parent - Where it is made. Tools that projects find above themselves need it elsewhere than the system's. */
  constructor(parent = tmpdir()) {
    this.directory = mkdtempSync(join(parent, 'terrace-projects-'))
  }

  get #archives() {
    return join(this.directory, 'archives')
  }

  /** The archives of the package in a directory, such as `packages/core`, and of our packages that it needs. */
  pack(directory) {
    if (!this.#packed.has(directory)) this.#packed.set(directory, pack(directory, this.#archives))
    return this.#packed.get(directory)
  }

  /** The archives of what these packages of ours need of others, and of abstract-level, which all of them are for. */
  externalOf(...packages) {
    const ours = packages.map((directory) => manifestOf(join(root, directory)).name)
    const needed = new Set(['abstract-level', ...ours].flatMap((name) => withDependencies(name, root)))
    const directories = [...needed].filter((each) => !isOurs(each))
    const wanted = directories.filter((each) => !this.#packed.has(each))
    for (const [i, archive] of this.packDirectories(wanted).entries()) this.#packed.set(wanted[i], archive)
    return directories.map((each) => this.#packed.get(each))
  }

  /** Packs directories that have their own `package.json`. Returns the paths of the archives. */
  packDirectories(directories) {
    if (directories.length === 0) return []
    mkdirSync(this.#archives, { recursive: true })
    this.npm(['pack', ...directories, '--pack-destination', this.#archives], this.directory)
    return directories.map((directory) => {
      const { name, version } = manifestOf(directory)
      return join(this.#archives, `${name.replace('@', '').replace('/', '-')}-${version}.tgz`)
    })
  }

  /** The archives of these packages of ours, and of those that they need. */
  archivesOf(...packages) {
    return [...new Set([...packages.flatMap((each) => this.pack(each)), ...this.externalOf(...packages)])]
  }

  /**
   * Makes a project with `files` in it, and `archives` installed.
   *
   * @returns {string} Its directory.
   */
  make(name, { archives, manifest = {}, files = {} }) {
    const directory = this.#write(name, manifest, files)
    this.npm(['install', ...archives], directory)
    return directory
  }

  /**
   * Makes a project with `files` in it that has one of our packages, and with it those that it needs. In the short form links lead to
   * them as they are built.
   *
   * @param {string} one - The directory of the package.
   * @returns {string} The directory of the project.
   */
  having(one, files) {
    if (!isShort) return this.make(basename(one), { archives: this.archivesOf(one), files })
    const directory = this.#write(basename(one), {}, files)
    const needed = withDependencies(manifestOf(join(root, one)).name, root)
    mkdirSync(join(directory, 'node_modules'))
    for (const each of new Set(needed.filter(isOurs))) {
      symlinkSync(realpathSync(each), join(directory, 'node_modules', basename(each)), 'junction')
    }
    return directory
  }

  #write(name, manifest, files) {
    const directory = join(this.directory, name)
    mkdirSync(directory, { recursive: true })
    writeFileSync(join(directory, 'package.json'), JSON.stringify({ name, private: true, ...manifest }))
    for (const [file, text] of Object.entries(files)) {
      mkdirSync(dirname(join(directory, file)), { recursive: true })
      writeFileSync(join(directory, file), text)
    }
    return directory
  }

  npm(args, directory) {
    const cache = `--cache=${join(this.directory, 'cache')}`
    const all = [...args, '--offline', '--ignore-scripts', '--no-audit', '--no-fund', cache]
    return npm(all, { cwd: directory, env: environment, encoding: 'utf8', stdio: 'pipe' })
  }

  remove() {
    rmSync(this.directory, { recursive: true, force: true })
  }
}

function manifestOf(directory) {
  return JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'))
}

/** Whether an installed package is one of this repository. */
function isOurs(directory) {
  return lstatSync(directory).isSymbolicLink()
}

/** The directory of a package as the one in `from` sees it, and those of everything that it depends on. */
function withDependencies(name, from) {
  const directory = installed(name, from)
  const { dependencies = {}, optionalDependencies = {}, peerDependencies = {} } = manifestOf(directory)
  // What is optional is for some platforms only.
  const optional = Object.keys(optionalDependencies).filter((each) => existsSync(installed(each, directory)))
  // npm installs peers as well. Ours are packed separately.
  const peers = Object.keys(peerDependencies).filter(
    (each) => existsSync(installed(each, directory)) && !isOurs(installed(each, directory))
  )
  const needed = new Set([...Object.keys(dependencies), ...optional, ...peers])
  return [directory, ...[...needed].flatMap((each) => withDependencies(each, directory))]
}

function installed(name, from) {
  const within = join(from, 'node_modules', name)
  return existsSync(within) ? within : join(root, 'node_modules', name)
}

/** The archive among `archives` of the package `name`, without a scope. */
export function archiveOf(archives, name) {
  const found = archives.filter((archive) => basename(archive).replace(/-\d+\.\d+\.\d+\.tgz$/, '') === name)
  assert.equal(found.length, 1, `one archive of ${name}`)
  return found[0]
}

/** Runs node in `directory`. */
export function node(directory, ...args) {
  return spawnSync(process.execPath, args, {
    cwd: directory,
    encoding: 'utf8',
    env: environment,
    timeout: HANG_MS
  })
}

/** Runs a program, which must succeed and print nothing but what is expected, not even warnings. */
export function expectOutput(directory, args, expected) {
  const { status, stdout, stderr } = node(directory, ...[args].flat())
  assert.equal(stderr, '')
  assert.equal(stdout, expected)
  assert.equal(status, 0)
}
