// The registries on loopback: each takes a package from its own client, by the command that publishes a release, and gives it back. What
// runs beside them reaches no other host.

import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { commandOf } from '../../../scripts/npm.mjs'
import { pack } from '../../../scripts/pack.mjs'
import { KINDS, publish } from '../../../scripts/publish.mjs'
import { root } from '../../../scripts/workspace.mjs'
import { lockedCrates, startCargoRegistry } from '../cargo-registry.mjs'
import { startGemRegistry } from '../gem-registry.mjs'
import { refuseOtherHosts } from '../loopback.mjs'
import { addOtherPlatforms, startNpmRegistry } from '../npm-registry.mjs'

const run = promisify(execFile)
const [npm, ...npmArguments] = commandOf(process)

let directory
let proxy
/** By the kind: its registry, and a package with its client's arguments. */
const registries = {}
const cases = {}

before(async () => {
  directory = mkdtempSync(join(tmpdir(), 'terrace-registries-'))
  proxy = await refuseOtherHosts()
  registries.npm = await startNpmRegistry()
  registries.cargo = await startCargoRegistry(directory, lockedCrates(root))
  registries.gem = await startGemRegistry(directory)
  const environmentOf = (kind) => ({ ...process.env, ...proxy.environment, ...registries[kind].environment })

  const [archive] = pack('packages/bytewise', directory)
  const gem = join(directory, 'packed.gem')
  execFileSync('gem', ['build', '--output', gem, 'terrace-leveldb.gemspec'], {
    cwd: join(root, 'ruby'),
    stdio: 'pipe'
  })
  const find = (kind, name) => KINDS[kind].packages().find((each) => each.name === name)
  const target = (kind, registry) => ({ registry, environment: environmentOf(kind), allowDirty: true })
  cases.npm = [{ ...find('npm', 'terrace-bytewise'), file: archive }, target('npm', registries.npm.url)]
  cases.cargo = [find('cargo', 'terrace-format'), target('cargo', registries.cargo.name)]
  cases.gem = [{ ...find('gem', 'terrace-leveldb'), file: gem }, target('gem', registries.gem.url)]
})

after(() => {
  for (const each of [...Object.values(registries), proxy]) each?.close()
  rmSync(directory, { recursive: true, force: true })
})

for (const [name, kind] of Object.entries(KINDS)) {
  test(`${name}: a package is published once; a second time it is left alone`, async () => {
    const [one, target] = cases[name]
    assert.equal(await kind.isPublished(one, target), false)
    const told = []
    await publish(kind, [one], target, (line) => told.push(line))
    assert.equal(await kind.isPublished(one, target), true)
    assert.equal(await kind.isPublished({ ...one, version: '9.9.9' }, target), false)
    assert.equal(told.length, 1)
    assert.ok(told[0].includes(target.registry), told[0])

    await publish(kind, [one], target, (line) => told.push(line))
    assert.deepEqual(told.slice(1), [told[0], `${one.name} ${one.version} was published before`])
  })

  test(`${name}: a package that is refused fails with what its client has printed`, async () => {
    const [one, target] = cases[name]
    const broken = { ...one, name: `${one.name}-missing`, ...(one.file && { file: import.meta.filename }) }
    await assert.rejects(
      publish(kind, [broken], target, () => {}),
      ({ message }) =>
        message.startsWith(`${broken.name} is not published: `) && message.split('\n').length > 1
    )
  })
}

test('nothing is published before it is packed, or to a registry that nobody names', async () => {
  const [one, target] = cases.npm
  const lost = { ...one, file: join(directory, 'lost.tgz') }
  const told = []
  const attempt = (one, target) => publish(KINDS.npm, [one], target, (line) => told.push(line))
  await assert.rejects(attempt(lost, target), /not packed: terrace-bytewise.*scripts\/release pack/)
  await assert.rejects(attempt(one, { environment: target.environment }), /Name the registry/)
  assert.deepEqual(told, [])
})

test('npm installs what was published, and leaves out platforms that have only a manifest', async () => {
  const project = join(directory, 'npm')
  mkdirSync(project)
  const { environment, url } = registries.npm
  const optional = { '@terrace-db/win32-arm64': '*' }
  writeFileSync(
    join(project, 'package.json'),
    JSON.stringify({ private: true, optionalDependencies: optional })
  )
  await addOtherPlatforms(registries.npm, [])
  const options = { cwd: project, env: { ...process.env, ...proxy.environment, ...environment } }
  await run(npm, [...npmArguments, 'install', 'terrace-bytewise', `--registry=${url}`], options)
  const { stdout } = await run(
    process.execPath,
    ['--print', "Object.keys(require('terrace-bytewise')).length > 0"],
    options
  )
  assert.equal(stdout, 'true\n')
})

test('Cargo compiles a program that depends on what was published, by another name and with its features', async () => {
  const { environment, name } = registries.cargo
  const env = {
    ...process.env,
    ...proxy.environment,
    ...environment,
    CARGO_TARGET_DIR: join(directory, 'compiled')
  }
  const crate = (path, manifest, source) => {
    mkdirSync(join(directory, path, 'src'), { recursive: true })
    writeFileSync(join(directory, path, 'Cargo.toml'), `${manifest}\n[workspace]\n`)
    writeFileSync(join(directory, path, source.startsWith('fn main') ? 'src/main.rs' : 'src/lib.rs'), source)
    return { cwd: join(directory, path), env }
  }
  const about = 'version = "1.0.0"\nedition = "2024"\nlicense = "MIT"\ndescription = "A crate of a test"\n'
  const cargo = (options, ...args) => run('cargo', args, options)
  const inner = crate(
    'inner',
    `[package]\nname = "loopback-inner"\n${about}[features]\nseven = []`,
    'pub fn number() -> u32 { if cfg!(feature = "seven") { 7 } else { 0 } }'
  )
  await cargo(inner, 'publish', `--registry=${name}`, '--allow-dirty')
  const outer = crate(
    'outer',
    `[package]\nname = "loopback-outer"\n${about}[dependencies]\n` +
      'other = { package = "loopback-inner", version = "1", optional = true }\n' +
      '[features]\nnumber = ["dep:other", "other/seven"]',
    '#[cfg(feature = "number")] pub use other::number;'
  )
  await cargo(outer, 'publish', `--registry=${name}`, '--allow-dirty')
  const user = crate(
    'user',
    `[package]\nname = "user"\n${about}[dependencies]\nloopback-outer = { version = "1", features = ["number"] }`,
    'fn main() { println!("{}", loopback_outer::number()) }'
  )
  assert.equal((await cargo(user, 'run', '--quiet')).stdout, '7\n')
})

test('gem installs what was published', async () => {
  const { environment, url } = registries.gem
  const options = { env: { ...process.env, ...proxy.environment, ...environment } }
  await run(
    'gem',
    ['install', 'terrace-leveldb', '--clear-sources', '--source', url, '--no-document'],
    options
  )
  const { stdout } = await run('gem', ['list', '--local', '--exact', 'terrace-leveldb'], options)
  assert.match(stdout, /^terrace-leveldb \(\d/m)
})

test('a request to another host is refused and noted, whichever client makes it', async () => {
  assert.deepEqual(proxy.refused, [])
  const clients = {
    npm: [npm, ...npmArguments, 'view', 'a', '--registry=https://npm.invalid/', '--fetch-retries=0'],
    cargo: ['cargo', 'info', 'abc', '--index=sparse+https://cargo.invalid/'],
    gem: ['gem', 'list', '--remote', '--clear-sources', '--source', 'https://gem.invalid/', 'a']
  }
  for (const [kind, [program, ...args]] of Object.entries(clients)) {
    const env = {
      ...process.env,
      ...proxy.environment,
      ...registries[kind].environment,
      CARGO_NET_RETRY: '0'
    }
    await run(program, args, { cwd: directory, env }).catch(() => {})
    assert.ok(proxy.refused.includes(`${kind}.invalid:443`), `${kind}: ${proxy.refused}`)
  }
})
