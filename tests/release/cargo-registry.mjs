// A registry of crates on loopback: a sparse index, the archives, and the call of the web API that publishes. It has what it is given
// at the start and what is published to it, and no more.
//
// https://doc.rust-lang.org/cargo/reference/registry-index.html and registry-web-api.html specify both.

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { serve } from './loopback.mjs'

/** What Cargo calls this registry in `--registry`. */
const NAME = 'loopback'
/** How Cargo writes that a crate comes from crates.io. */
const CRATES_IO = 'https://github.com/rust-lang/crates.io-index'

/**
 * A version of a crate: its line in the index, and its archive.
 *
 * @typedef {{ entry: Record<string, any>, read: () => Buffer }} Crate
 *
 * @typedef {object} CargoRegistry
 * @property {string} name - For `--registry`.
 * @property {string} url
 * @property {Record<string, string>} environment - Gives Cargo its own home, in which this registry stands for crates.io too.
 * @property {() => void} close
 */

/**
 * Starts a registry.
 *
 * @param {string} directory - Cargo's home will be in it.
 * @param {Crate[]} [crates] - What it has at the start.
 * @returns {Promise<CargoRegistry>}
 */
export async function startCargoRegistry(directory, crates = []) {
  const all = new Map(crates.map((crate) => [key(crate.entry), crate]))
  const server = await serve((method, path, body) => {
    if (method === 'PUT' && path === '/api/v1/crates/new') {
      const crate = readUpload(body)
      if (all.has(key(crate.entry))) return refusal(`crate ${key(crate.entry)} is already uploaded`)
      all.set(key(crate.entry), crate)
      return { body: JSON.stringify({ warnings: {} }) }
    }
    const [, part, rest] = /^\/(index|crates)\/(.*)$/.exec(path) ?? []
    if (part === 'crates') {
      const crate = all.get(rest.replace(/\/download$/, ''))
      return crate ? { body: crate.read() } : { status: 404 }
    }
    if (rest === 'config.json')
      return { body: JSON.stringify({ dl: `${server.url}/crates`, api: server.url }) }
    const entries = [...all.values()].map(({ entry }) => entry).filter(({ name }) => indexPath(name) === rest)
    if (entries.length === 0) return { status: 404 }
    return { body: entries.map((entry) => `${JSON.stringify(entry)}\n`).join('') }
  })

  const home = join(directory, 'cargo')
  mkdirSync(home)
  writeFileSync(
    join(home, 'config.toml'),
    `[registry]
default = "${NAME}"
[registries.${NAME}]
index = "sparse+${server.url}/index/"
[source.crates-io]
replace-with = "${NAME}"
`
  )
  // Cargo wants some token before it publishes.
  const token = { [`CARGO_REGISTRIES_${NAME.toUpperCase()}_TOKEN`]: NAME }
  return { name: NAME, url: server.url, environment: { CARGO_HOME: home, ...token }, close: server.close }
}

/**
 * The crates of others that a workspace's Cargo.lock names, as Cargo has downloaded them.
 *
 * @param {string} workspace - Its directory.
 * @returns {Crate[]}
 */
export function lockedCrates(workspace) {
  const metadata = execFileSync('cargo', ['metadata', '--format-version=1', '--locked'], {
    cwd: workspace,
    encoding: 'utf8',
    maxBuffer: 256 << 20
  })
  const others = JSON.parse(metadata).packages.filter(({ source }) => source !== null)
  return others.map(({ name, version, dependencies, features, links, rust_version, manifest_path }) => {
    const archive = join(manifest_path, '..').replace(
      /([\\/])src([\\/])(?=[^\\/]+[\\/][^\\/]+$)/,
      '$1cache$2'
    )
    const read = () => readFileSync(`${archive}.crate`)
    const deps = dependencies.map(({ name, rename, req, uses_default_features, ...more }) => ({
      ...dependency(name, rename, more),
      req,
      default_features: uses_default_features
    }))
    return { entry: entryOf({ name, vers: version, deps, features, links, rust_version }, read()), read }
  })
}

/** What `cargo publish` sends: two lengths, each before what it is of, the description in JSON and the archive. */
function readUpload(body) {
  const length = body.readUInt32LE(0)
  const described = JSON.parse(body.toString('utf8', 4, 4 + length))
  const archive = body.subarray(8 + length)
  if (archive.length !== body.readUInt32LE(4 + length))
    throw new Error('the archive of the crate is not complete')
  const { name, vers, features, links, rust_version } = described
  const deps = described.deps.map(({ name, explicit_name_in_toml, version_req, ...more }) => ({
    ...dependency(name, explicit_name_in_toml, more),
    req: version_req,
    default_features: more.default_features
  }))
  return { entry: entryOf({ name, vers, deps, features, links, rust_version }, archive), read: () => archive }
}

function dependency(name, rename, { kind, features, optional, target, registry }) {
  if (registry != null && registry !== CRATES_IO) throw new Error(`${name} is to come from ${registry}`)
  return {
    name: rename ?? name,
    ...(rename && { package: name }),
    kind: kind ?? 'normal',
    features,
    optional,
    target
  }
}

function entryOf({ name, vers, deps, features, links, rust_version }, archive) {
  const cksum = createHash('sha256').update(archive).digest('hex')
  // Version 2 of an entry is for features that name dependencies, as `dep:zstd`.
  return {
    name,
    vers,
    deps,
    cksum,
    features: {},
    features2: features,
    yanked: false,
    links,
    rust_version,
    v: 2
  }
}

function key({ name, vers }) {
  return `${name}/${vers}`
}

/** A refusal, whose reason Cargo prints. */
function refusal(detail) {
  return { status: 409, body: JSON.stringify({ errors: [{ detail }] }) }
}

/** Where the index has a crate: in directories of the first letters of its name. */
function indexPath(name) {
  const lower = name.toLowerCase()
  if (lower.length < 3) return `${lower.length}/${lower}`
  if (lower.length === 3) return `3/${lower[0]}/${lower}`
  return `${lower.slice(0, 2)}/${lower.slice(2, 4)}/${lower}`
}
