// Builds the addon for this machine and puts it where `src/load-binding.ts` looks first.
//
//   node scripts/build-native.mjs [--debug]

import { spawnSync } from 'node:child_process'
import { copyFileSync, renameSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { platformName } from './platform.mjs'

const packageDirectory = join(dirname(fileURLToPath(import.meta.url)), '..')
const profile = process.argv.includes('--debug') ? [] : ['--release']

const cargo = spawnSync(
  'cargo',
  ['build', '--package', 'terrace-node', '--message-format', 'json-render-diagnostics', ...profile],
  { cwd: packageDirectory, stdio: ['ignore', 'pipe', 'inherit'], encoding: 'utf8', maxBuffer: 1 << 28 }
)

if (cargo.error) {
  console.error(`Could not run cargo: ${cargo.error.message}. Install Rust, which includes it.`)
  process.exit(1)
}

if (cargo.status !== 0) process.exit(cargo.status ?? 1)

const library = cargo.stdout
  .split('\n')
  .filter((line) => line.startsWith('{'))
  .map((line) => JSON.parse(line))
  .filter((message) => message.reason === 'compiler-artifact' && message.target.name === 'terrace_node')
  .flatMap((message) => message.filenames)
  .find((file) => /\.(so|dylib|dll)$/.test(file))

if (library === undefined) {
  console.error('cargo did not report a library among its results')
  process.exit(1)
}

const target = join(packageDirectory, `terrace.${platformName()}.node`)

// Copied under another name first: a running process may have the old file mapped.
copyFileSync(library, `${target}.new`)
renameSync(`${target}.new`, target)
console.log(`built ${target}`)
