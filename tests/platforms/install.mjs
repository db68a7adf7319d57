// Installs terrace in an empty folder, as a user does, with the installer of the runtime itself, and uses it there.

import { execFileSync } from 'node:child_process'
import {
  copyFileSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { PLATFORMS } from '../../packages/terrace/scripts/platforms.mjs'
import { builtPlatforms, pack } from '../../scripts/pack.mjs'
import { addOtherPlatforms, startNpmRegistry } from '../release/npm-registry.mjs'
import { Projects } from '../support/projects.mjs'
import { runProgram } from './run-program.mjs'

const smoke = fileURLToPath(new URL('smoke.cjs', import.meta.url))

/** How each family installs: returns what ended. Every cache is a new one, in the folder. */
const INSTALL = {
  Node: ({ run, build }, folder) => run(npm(), [...npmArguments(folder), ...libcOf(build)], folder),
  // npm starts programs in ways that wine has not, so this machine's npm installs for it.
  Windows: (_, folder) =>
    runProgram(process.execPath, [npm(), ...npmArguments(folder), '--os=win32', '--cpu=x64'], {
      cwd: folder
    }),
  Bun: ({ program }, folder, url) =>
    runProgram(program, ['add', 'terrace', '--registry', url, '--cache-dir', join(folder, 'cache')], {
      cwd: folder
    }),
  // Deno leaves out what was published within a day.
  Deno: ({ program }, folder) =>
    runProgram(program, ['add', '--minimum-dependency-age=0', 'npm:terrace'], {
      cwd: folder,
      environment: { DENO_DIR: join(folder, 'cache') }
    })
}

/** The program npm, which any Node can run. */
function npm() {
  return realpathSync(execFileSync('which', ['npm'], { encoding: 'utf8' }).trim())
}

/** npm goes by the C library of the system's tools, which is not always that of the Node that runs it. */
function libcOf(build) {
  return PLATFORMS[build].libc === 'musl' ? ['--libc=musl'] : []
}

function npmArguments(folder) {
  return ['install', 'terrace', '--no-audit', '--no-fund', `--cache=${join(folder, 'cache')}`]
}

/**
 * Starts a registry on loopback that has `terrace`, for all platforms that were built, and what it depends on.
 *
 * @returns {Promise<import('../release/npm-registry.mjs').NpmRegistry>}
 */
export async function startRegistry() {
  const projects = new Projects()
  const registry = await startNpmRegistry()
  try {
    const archives = [
      ...pack('packages/terrace', projects.directory, builtPlatforms),
      ...projects.externalOf('packages/terrace')
    ]
    const names = []
    for (const archive of archives) names.push(await registry.add(archive))
    await addOtherPlatforms(registry, names)
    return registry
  } catch (error) {
    registry.close()
    throw error
  } finally {
    projects.remove()
  }
}

/**
 * Installs in a new folder and runs `smoke.cjs` there.
 *
 * @param {import('./runtimes.mjs').Runtime} runtime
 * @param {import('../release/npm-registry.mjs').NpmRegistry} registry
 * @returns {Promise<{ wrong?: string, sizeBytes?: number }>} What went wrong, or the size of all that was installed.
 */
export async function installAndUse(runtime, registry) {
  const folder = mkdtempSync(join(tmpdir(), 'terrace-install-'))
  try {
    writeFileSync(join(folder, 'package.json'), '{"private":true}')
    // Read by npm and Deno alike.
    writeFileSync(join(folder, '.npmrc'), `registry=${registry.url}\n`)
    const installed = await INSTALL[runtime.family](runtime, folder, registry.url)
    if (installed.status !== 0) return { wrong: installed.output }
    const parts = platformParts(folder)
    const { os, cpu } = PLATFORMS[runtime.build]
    // Deno does not ask for the C library, so it has both of Linux.
    const foreign = parts.filter((name) => !name.startsWith(`${os}-${cpu}`))
    if (foreign.length > 0 || !parts.includes(runtime.build))
      return { wrong: `native parts for ${parts.join(', ')}` }
    copyFileSync(smoke, join(folder, 'smoke.cjs'))
    const { status, output } = await runtime.run(join(folder, 'smoke.cjs'), [], folder)
    const isGood = status === 0 && /^ok /m.test(output)
    return isGood ? { sizeBytes: sizeOf(join(folder, 'node_modules')) } : { wrong: output }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The platforms whose packages are beside terrace, wherever the installer has put that. */
function platformParts(folder) {
  const terrace = realpathSync(join(folder, 'node_modules', 'terrace'))
  return readdirSync(join(dirname(terrace), '@terrace-db')).sort()
}

/** The size of the files in a directory. Links count for nothing: Deno makes many. */
function sizeOf(directory) {
  return readdirSync(directory, { withFileTypes: true }).reduce((bytes, entry) => {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) return bytes + sizeOf(path)
    return bytes + (entry.isFile() ? statSync(path).size : 0)
  }, 0)
}
