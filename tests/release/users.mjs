// What users of a release do: install a package from a registry in an empty directory, and use it there.

import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runProgram } from '../platforms/run-program.mjs'

const program = (name) => fileURLToPath(new URL(`programs/${name}`, import.meta.url))

/**
 * What a program or an installer came to: what it has shown to work, or what it printed instead.
 *
 * @typedef {{ worked?: string, wrong?: string }} Outcome
 */

/** The outcome of a program that prints `ok` if all is well. */
function outcome({ status, output }, worked) {
  return status === 0 && /^ok\b/m.test(output) ? { worked } : { wrong: output }
}

/**
 * Installs npm packages together.
 *
 * @param {import('../platforms/runtimes.mjs').Runtime} runtime - A Node.
 * @param {string} directory - A new one.
 * @param {{ name: string, version: string }[]} packages
 * @param {import('./npm-registry.mjs').NpmRegistry} registry
 * @returns {Promise<Outcome>}
 */
export async function installTogether(runtime, directory, packages, registry) {
  mkdirSync(directory)
  writeFileSync(join(directory, 'package.json'), '{"private":true}')
  copyFileSync(program('package.mjs'), join(directory, 'package.mjs'))
  const npm = realpathSync(execFileSync('which', ['npm'], { encoding: 'utf8' }).trim())
  const wanted = packages.map(({ name, version }) => `${name}@${version}`)
  const args = ['install', ...wanted, `--registry=${registry.url}`, '--no-audit', '--no-fund']
  const { status, output } = await runtime.run(npm, args, directory)
  return status === 0 ? { worked: 'installed' } : { wrong: output }
}

/**
 * Loads what a package in `directory` exports, and starts its programs.
 *
 * @returns {Promise<Outcome>}
 */
export async function usePackage(runtime, directory, name) {
  const ended = await runtime.run(join(directory, 'package.mjs'), [name], directory)
  return outcome(ended, /^ok (.*)$/m.exec(ended.output)?.[1])
}

/**
 * Writes and reads with a program `terrace`.
 *
 * @param {(args: string[]) => Promise<import('../platforms/run-program.mjs').Ended>} run
 * @param {string} database - A directory that does not exist yet.
 * @returns {Promise<Outcome>}
 */
export async function useProgram(run, database) {
  const put = await run(['put', database, 'apple', 'red', '--create'])
  const get = await run(['get', database, 'apple'])
  const isGood = put.status === 0 && get.status === 0 && get.output.trim() === 'red'
  return isGood ? { worked: 'put, get' } : { wrong: put.output + get.output }
}

/**
 * A project that depends on the crate terrace-engine.
 *
 * @param {string} directory - A new one.
 * @param {string} version
 * @param {Record<string, string>} environment
 * @returns {Promise<Outcome>}
 */
export async function useCrate(directory, version, environment) {
  mkdirSync(join(directory, 'src'), { recursive: true })
  writeFileSync(
    join(directory, 'Cargo.toml'),
    `[package]\nname = "engine"\nversion = "${version}"\nedition = "2024"\n
[dependencies]\nterrace-engine = "=${version}"\n\n[workspace]\n`
  )
  copyFileSync(program('engine.rs'), join(directory, 'src', 'main.rs'))
  const args = ['run', '--quiet', '--', join(directory, 'database')]
  return outcome(await runProgram('cargo', args, { cwd: directory, environment }), 'put, get, close')
}

/**
 * Installs the program of the crate terrace-cli and uses it.
 *
 * @param {string} directory - A new one.
 * @param {string} version
 * @param {Record<string, string>} environment
 * @returns {Promise<Outcome>}
 */
export async function useCrateProgram(directory, version, environment) {
  mkdirSync(directory)
  // Without optimisation, which takes minutes and shows nothing about the crate.
  const args = [
    'install',
    'terrace-cli',
    `--version=${version}`,
    '--locked',
    '--debug',
    `--root=${directory}`
  ]
  const { status, output } = await runProgram('cargo', args, { cwd: directory, environment })
  if (status !== 0) return { wrong: output }
  const run = (args) => runProgram(join(directory, 'bin', 'terrace'), args)
  return useProgram(run, join(directory, 'database'))
}

/**
 * Installs the gem and uses it with the C library of a release.
 *
 * @param {string} directory - A new one.
 * @param {{ name: string, version: string }} gem
 * @param {string} archive - The library for this machine, packed.
 * @param {import('./gem-registry.mjs').GemRegistry} registry
 * @returns {Promise<Outcome>}
 */
export async function useGem(directory, { name, version }, archive, { url, environment }) {
  mkdirSync(directory)
  const args = ['install', name, '--version', version, '--clear-sources', '--source', url, '--no-document']
  const { status, output } = await runProgram('gem', args, { cwd: directory, environment })
  if (status !== 0) return { wrong: output }
  execFileSync('tar', ['-xzf', archive, '-C', directory, '--strip-components=1'])
  const ended = await runProgram('ruby', [program('leveldb.rb'), join(directory, 'database')], {
    cwd: directory,
    environment: { ...environment, TERRACE_LIB: join(directory, 'lib', 'libterrace.so') }
  })
  return outcome(ended, 'put, get, close')
}
