// Empty projects with our packages installed as npm would publish them: from archives, without a network and without
// install scripts.

import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { pack } from '../../scripts/pack.mjs'

/** The root of the repository. */
export const root = fileURLToPath(new URL('../..', import.meta.url))

// Settings of an npm that runs a test must not reach the npm and the programs that it runs.
export const environment = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(npm_|NODE_TEST_CONTEXT$)/i.test(name))
)

/** A folder for projects and archives, which {@link Projects.remove} removes. */
export class Projects {
  folder = mkdtempSync(join(tmpdir(), 'terrace-projects-'))
  #archives = join(this.folder, 'archives')
  #packed = new Map()

  /** The archives of one of our packages, named as its folder of `packages/`, and of what it needs of ours. */
  pack(name) {
    if (!this.#packed.has(name)) this.#packed.set(name, pack(name, this.#archives))
    return this.#packed.get(name)
  }

  /** Archives of an installed package and of all that it depends on. */
  packInstalled(name, seen = new Map()) {
    if (seen.has(name)) return []
    const folder = join(root, 'node_modules', name)
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    seen.set(name, this.packFolder(folder))
    for (const dependency of Object.keys(manifest.dependencies ?? {})) this.packInstalled(dependency, seen)
    return [...seen.values()]
  }

  /** Packs a folder that has a `package.json` of its own. Returns the path of the archive. */
  packFolder(folder) {
    mkdirSync(this.#archives, { recursive: true })
    const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    this.npm(['pack', folder, '--pack-destination', this.#archives], this.folder)
    return join(this.#archives, `${name}-${version}.tgz`)
  }

  /** The archives of these packages of ours, and of what they need. */
  archivesOf(...names) {
    const external = this.packInstalled('abstract-level')
    return [...new Set([...names.flatMap((name) => this.pack(name)), ...external])]
  }

  /**
   * A project with `files` in it, and `archives` installed.
   *
   * @returns {string} Its folder.
   */
  make(name, { archives, manifest = {}, files = {} }) {
    const folder = join(this.folder, name)
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ name, private: true, ...manifest }))
    for (const [file, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, file)), { recursive: true })
      writeFileSync(join(folder, file), text)
    }
    this.npm(['install', ...archives], folder)
    return folder
  }

  npm(args, folder) {
    const cache = `--cache=${join(this.folder, 'cache')}`
    const all = [...args, '--offline', '--ignore-scripts', '--no-audit', '--no-fund', cache]
    return execFileSync('npm', all, { cwd: folder, env: environment, encoding: 'utf8', stdio: 'pipe' })
  }

  remove() {
    rmSync(this.folder, { recursive: true, force: true })
  }
}

/** The archive among `archives` of the package `name`, without a scope. */
export function archiveOf(archives, name) {
  const found = archives.filter((archive) => basename(archive).replace(/-\d+\.\d+\.\d+\.tgz$/, '') === name)
  assert.equal(found.length, 1, `one archive of ${name}`)
  return found[0]
}

/** Runs node in `folder`. */
export function node(folder, ...args) {
  return spawnSync(process.execPath, args, {
    cwd: folder,
    encoding: 'utf8',
    env: environment,
    timeout: 120_000
  })
}

/** Runs a program, which must end well and print nothing but what is expected: no warnings either. */
export function expectOutput(folder, args, expected) {
  const { status, stdout, stderr } = node(folder, ...[args].flat())
  assert.equal(stderr, '')
  assert.equal(stdout, expected)
  assert.equal(status, 0)
}
