// The one version of everything that is published: npm packages, crates, the gem, the C library.
//
//   node scripts/version.mjs          fails if one of them has another version than Cargo.toml
//   node scripts/version.mjs 0.2.0    gives all of them this version

import { existsSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { NATIVE_PACKAGES } from './manifests.mjs'
import { packagesIn } from './workspace.mjs'

const VERSION = String.raw`(?<version>\d+\.\d+\.\d+)`
const OURS = '"(?:terrace(?:-[a-z]+)*|@terrace-db/[a-z0-9-]+)"'

const pattern = (before, after = '') => new RegExp(`(?<=${before})${VERSION}(?=${after})`, 'gm')

/** In a manifest of npm: its own version, and those of ours that it depends on. */
const NPM = [pattern('^  "version": "', '"'), pattern(`^ +${OURS}: "\\^?`, '"')]
const NPM_LOCK = [
  pattern('^    "(?:packages|courses)/[^"]+": \\{\\n(?:      "name": "[^"]+",\\n)?      "version": "', '"'),
  pattern(`^ +${OURS}: "\\^?`, '"')
]

/** Each file that has the version in it, below `root`, with patterns that find it there. */
function placesIn(root) {
  const read = (file) => readFileSync(join(root, file), 'utf8')
  const directories = packagesIn(root).map(({ directory }) => directory)
  const platforms = NATIVE_PACKAGES.flatMap((directory) =>
    readdirSync(join(root, 'packages', directory, 'npm')).map((name) => `packages/${directory}/npm/${name}`)
  )
  const manifests = [...directories, ...platforms].map((directory) => `${directory}/package.json`)
  const workshops = directories
    .map((directory) => `${directory}/workshop.json`)
    .filter((file) => existsSync(join(root, file)))
  const members = readdirSync(join(root, 'crates'))
    .filter((name) => existsSync(join(root, 'crates', name, 'Cargo.toml')))
    .filter((name) => /^version\.workspace = true$/m.test(read(`crates/${name}/Cargo.toml`)))
  const locked = [pattern(`^name = "terrace-(?:${members.join('|')})"\\nversion = "`, '"')]
  return Object.entries({
    'Cargo.toml': [
      pattern('^\\[workspace\\.package\\]\\nversion = "', '"'),
      pattern('^terrace-.*version = "', '"')
    ],
    'Cargo.lock': locked,
    'fuzz/Cargo.lock': locked,
    'bench/rivals/Cargo.lock': locked,
    'package-lock.json': NPM_LOCK,
    'ruby/lib/leveldb/version.rb': [pattern("VERSION = '", "'")],
    'docs/c-library.md': [pattern('libterrace\\.so\\.')],
    'docs/codemod.mjs': [pattern("^const VERSION = '\\^", "'")],
    'docs/man/terrace.1': [pattern('"terrace ', '"'), pattern('^v', '$')],
    'docs/migrating.md': [pattern('npm:terrace-leveldown@\\^')],
    'packages/leveldown/README.md': [pattern('npm:terrace-leveldown@\\^')],
    'packages/terrace/README.md': [pattern('npm:terrace@\\^')],
    'ruby/README.md': [pattern('terrace-leveldb-', '\\.gem')],
    'UPGRADING.md': [pattern('npm:terrace@\\^')],
    ...Object.fromEntries([...manifests, ...workshops].map((file) => [file, NPM]))
  })
}

/** The version of the repository at `root`. */
export function versionOf(root) {
  const { version } = placesIn(root)[0][1][0].exec(readFileSync(join(root, 'Cargo.toml'), 'utf8')).groups
  return version
}

/** What has another version than `version`, or none, as lines for a person. */
export function differences(root, version) {
  return placesIn(root).flatMap(([file, patterns]) => {
    const text = readFileSync(join(root, file), 'utf8')
    const found = patterns.flatMap((each) => [...text.matchAll(each)])
    if (found.length === 0) return [`${file}: no version was found`]
    return found
      .filter(({ groups }) => groups.version !== version)
      .map(({ groups, index }) => `${file}:${text.slice(0, index).split('\n').length}: ${groups.version}`)
  })
}

/** Writes `version` wherever there is one. */
export function setVersion(root, version) {
  for (const [file, patterns] of placesIn(root)) {
    const text = readFileSync(join(root, file), 'utf8')
    writeFileSync(
      join(root, file),
      patterns.reduce((all, each) => all.replaceAll(each, version), text)
    )
  }
}

function main([wanted]) {
  const root = fileURLToPath(new URL('..', import.meta.url))
  if (wanted !== undefined && !new RegExp(`^${VERSION}$`).test(wanted)) {
    throw new Error('usage: node scripts/version.mjs [MAJOR.MINOR.PATCH]')
  }
  if (wanted !== undefined) setVersion(root, wanted)
  const version = versionOf(root)
  const others = differences(root, version)
  if (others.length > 0)
    throw new Error(`These are not ${version}, the version in Cargo.toml:\n${others.join('\n')}`)
  console.log(version)
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  try {
    main(process.argv.slice(2))
  } catch (error) {
    console.error(error.message)
    process.exitCode = 1
  }
}
