// Rehearses a release: publishes what `scripts/release pack` has made to registries on loopback, by the commands that publish it, and
// installs it from there as users do, in Node, Bun, Deno, Ruby and Rust.
//
//   node rehearse.mjs
//
// Nothing leaves this machine: every command names its registry, a proxy refuses all other hosts, and no program has a token of the user's.
// A request to another host fails the rehearsal.

import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { platformName } from '../../packages/terrace/scripts/platform.mjs'
import { PLATFORMS } from '../../packages/terrace/scripts/platforms.mjs'
import { archiveFile, archiveName } from '../../scripts/prebuilds/paths.mjs'
import { KINDS, OUT, publish } from '../../scripts/publish.mjs'
import { versionOf } from '../../scripts/version.mjs'
import { packagesIn, root } from '../../scripts/workspace.mjs'
import { installAndUse } from '../platforms/install.mjs'
import { RUNTIMES } from '../platforms/runtimes.mjs'
import { Projects } from '../support/projects.mjs'
import { lockedCrates, startCargoRegistry } from './cargo-registry.mjs'
import { startGemRegistry } from './gem-registry.mjs'
import { refuseOtherHosts } from './loopback.mjs'
import { addOtherPlatforms, startNpmRegistry } from './npm-registry.mjs'
import { installTogether, useCrate, useCrateProgram, useGem, usePackage, useProgram } from './users.mjs'

const version = versionOf(root)
const runtimes = ['Node 24', 'Bun', 'Deno'].map((name) => RUNTIMES.find((each) => each.name === name))
const [node] = runtimes
const packages = Object.fromEntries(Object.entries(KINDS).map(([kind, { packages }]) => [kind, packages()]))
const isPacked = ({ file }) => existsSync(file)
const libraries = join(OUT, 'archives')
const library = archiveFile(
  archiveName('libterrace', version, platformName()),
  PLATFORMS[platformName()],
  libraries
)

/** @type {{ name: string, registry: string, on: string, worked: string, seconds: string }[]} */
const rows = []
/** What is wrong, for the end. */
const wrong = []

function say(text) {
  console.log(`\nrehearsal, ${seconds(0)}: ${text}`)
}

function seconds(since) {
  return `${((performance.now() - since) / 1000).toFixed(1)} s`
}

/** Uses a package and notes in the table what became of that. Returns whether it worked. */
async function note(kind, name, on, use) {
  const begun = performance.now()
  const outcome = await use()
  if (outcome.wrong !== undefined) wrong.push(`${name} on ${on}:\n${outcome.wrong.trim()}`)
  const worked = outcome.worked ?? 'NO'
  console.log(`${name} on ${on}: ${worked}`)
  rows.push({ name, registry: KINDS[kind].title, on, worked, seconds: seconds(begun) })
  return outcome.wrong === undefined
}

/** Notes a package that another one has brought with it. */
function noteWith(kind, name, on, worked) {
  rows.push({ name, registry: KINDS[kind].title, on, worked, seconds: '' })
}

/** Fails unless everything is there that the rehearsal needs. */
function check() {
  const platforms = packages.npm.filter((one) => one.platform === platformName())
  const needed = [...packages.npm.filter((one) => one.platform === undefined), ...platforms, ...packages.gem]
  const missing = [...needed.map(({ file }) => file), library].filter((file) => !existsSync(file))
  if (missing.length > 0) {
    const files = missing.map((file) => relative(root, file)).join('\n  ')
    throw new Error(
      `These are not packed:\n  ${files}\nRun "make prebuilds PLATFORMS=${platformName()}" and "scripts/release pack", then this again.`
    )
  }
  const lacking = runtimes.map((runtime) => runtime.missing()).filter((each) => each !== undefined)
  if (lacking.length > 0) throw new Error(`The rehearsal lacks ${lacking.join(', ')}.`)
}

/** Keeps the programs that are started from now on to loopback, and from the settings and tokens of the user. */
function isolate(directory, proxy) {
  for (const name of Object.keys(process.env)) {
    if (/token|api_key|otp|^(npm|cargo|gem|bundle|bundler)_/i.test(name)) delete process.env[name]
  }
  const home = join(directory, 'home')
  mkdirSync(home)
  process.env.RUSTUP_HOME ??= join(homedir(), '.rustup')
  Object.assign(process.env, proxy.environment, { HOME: home })
}

async function publishAll(targets) {
  for (const [kind, target] of Object.entries(targets)) {
    const { title } = KINDS[kind]
    const chosen = packages[kind].filter((one) => one.file === undefined || isPacked(one))
    say(`publish on loopback what goes to ${title}: ${chosen.length} of ${packages[kind].length}`)
    await publish(KINDS[kind], chosen, target, console.log)
    for (const one of chosen) {
      if (!(await KINDS[kind].isPublished(one, target)))
        wrong.push(`${one.name}: the registry does not have it`)
    }
  }
}

/** npm's packages: `terrace` in each runtime, and all of them together in Node. */
async function useNpm(directory, registry) {
  say('install terrace from npm, by the installer of each runtime')
  for (const runtime of runtimes) {
    await note('npm', 'terrace', runtime.name, async () => {
      const { wrong } = await installAndUse(runtime, registry)
      return wrong === undefined ? { worked: 'put, get, close' } : { wrong }
    })
  }

  say('install all packages of npm together')
  const together = join(directory, 'together')
  const all = packages.npm.filter((one) => one.platform === undefined)
  const installed = await installTogether(node, together, all, registry)
  if (installed.wrong !== undefined) throw new Error(`npm cannot install the packages:\n${installed.wrong}`)
  for (const { name } of all) {
    await note('npm', name, node.name, () => usePackage(node, together, name))
  }
  await note('npm', 'terrace-cli', node.name, () => {
    const program = join(together, 'node_modules', '.bin', 'terrace')
    return useProgram((args) => node.run(program, args, together), join(together, 'database'))
  })
  for (const one of packages.npm.filter(({ platform }) => platform !== undefined)) {
    const main = one.name.startsWith('@terrace-db/cli-') ? 'terrace-cli' : 'terrace'
    if (one.platform === platformName()) noteWith('npm', one.name, node.name, `with ${main}`)
    else noteWith('npm', one.name, 'not run here', isPacked(one) ? 'published' : 'not built')
  }
}

async function useCargo(directory, { environment }) {
  say('compile a program that depends on terrace-engine, and install terrace-cli')
  const rust = execFileSync('rustc', ['--version'], { encoding: 'utf8' }).split(' ', 2).join(' ')
  const shared = { ...environment, CARGO_TARGET_DIR: join(directory, 'compiled') }
  await note('cargo', 'terrace-engine', rust, () => useCrate(join(directory, 'crate'), version, shared))
  const isUsed = await note('cargo', 'terrace-cli', rust, () =>
    useCrateProgram(join(directory, 'program'), version, shared)
  )
  for (const { name } of packages.cargo.filter(({ name }) => !/-(engine|cli)$/.test(name)))
    noteWith('cargo', name, rust, isUsed ? 'with terrace-cli' : 'NO')
}

async function useRuby(directory, registry) {
  say('install the gem, and use it with the library of the release')
  execFileSync('sha256sum', ['--check', '--quiet', 'SHA256SUMS'], { cwd: libraries, stdio: 'inherit' })
  const ruby = execFileSync('ruby', ['--version'], { encoding: 'utf8' }).split(' ', 2).join(' ')
  for (const gem of packages.gem)
    await note('gem', gem.name, ruby, () => useGem(join(directory, 'gem'), gem, library, registry))
}

function printTable() {
  const head = {
    name: 'package',
    registry: 'registry',
    on: 'installed on',
    worked: 'worked',
    seconds: 'time'
  }
  const widths = Object.keys(head).map((key) => [
    key,
    Math.max(...[head, ...rows].map((row) => row[key].length))
  ])
  console.log()
  for (const row of [head, ...rows]) {
    console.log(
      widths
        .map(([key, width]) => row[key].padEnd(width))
        .join('  ')
        .trimEnd()
    )
  }
}

async function rehearse(directory) {
  const packed = readFileSync(join(OUT, 'commit'), 'utf8').trim()
  say(`version ${version}, as packed from commit ${packed}`)
  const crates = lockedCrates(root)
  const projects = new Projects()
  const others = projects.externalOf(...packagesIn().map((one) => one.directory))
  const proxy = await refuseOtherHosts()
  isolate(directory, proxy)

  say('start registries of npm packages, crates and gems on loopback')
  const npm = await startNpmRegistry()
  const cargo = await startCargoRegistry(directory, crates)
  const gem = await startGemRegistry(directory)
  try {
    for (const archive of new Set(others)) await npm.add(archive)
    await addOtherPlatforms(
      npm,
      packages.npm.filter(isPacked).map(({ name }) => name)
    )
    console.log(`npm ${npm.url}, with ${new Set(others).size} packages of others`)
    console.log(`crates ${cargo.url}, with ${crates.length} of others`)
    console.log(`gems ${gem.url}`)

    const environment = npm.environment
    await publishAll({
      npm: { registry: npm.url, environment },
      cargo: { registry: cargo.name, environment: cargo.environment, allowDirty: packed.endsWith('-dirty') },
      gem: { registry: gem.url, environment: gem.environment }
    })
    await useNpm(directory, npm)
    await useCargo(directory, cargo)
    await useRuby(directory, gem)
  } finally {
    for (const each of [npm, cargo, gem, proxy]) each.close()
    projects.remove()
  }
  if (proxy.refused.length > 0)
    wrong.push(`These hosts were asked for, and refused: ${proxy.refused.join(', ')}`)
  printTable()
}

const directory = mkdtempSync(join(tmpdir(), 'terrace-rehearsal-'))
try {
  check()
  await rehearse(directory)
  if (wrong.length > 0) throw new Error(`${wrong.length} did not work:\n\n${wrong.join('\n\n')}`)
  say('all of it works, and no program asked for another host')
} catch (error) {
  console.error(`\nrehearsal: ${error.message}\n\nNothing was published. Mend this, then: make rehearse`)
  process.exitCode = 1
} finally {
  rmSync(directory, { recursive: true, force: true })
}
