// Runs cargo, and tells which file it has made of a package's library.

import { spawnSync } from 'node:child_process'
import { copyFileSync, renameSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const packageDirectory = join(dirname(fileURLToPath(import.meta.url)), '..')

/** Builds the library of a crate. Returns its file. Ends this program if that fails. */
export function cargoBuild(crate, extension, ...options) {
  return buildBy('build', crate, extension, options)
}

/** The same by another subcommand of cargo that takes the options of `build`, and with additions to the environment. */
export function buildBy(subcommand, crate, extension, options, environment = {}) {
  const cargo = spawnSync(
    'cargo',
    [subcommand, '--package', crate, '--message-format', 'json-render-diagnostics', ...options],
    {
      cwd: packageDirectory,
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'pipe', 'inherit'],
      encoding: 'utf8',
      maxBuffer: 1 << 28
    }
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
    .filter(
      ({ reason, target }) => reason === 'compiler-artifact' && target.name === crate.replaceAll('-', '_')
    )
    .flatMap((message) => message.filenames)
    .find((file) => extension.test(file))

  if (library === undefined) {
    console.error('cargo did not report a library among its results')
    process.exit(1)
  }

  return library
}

/** The addon of a build: where the loader looks in a checkout, and what is packed. */
export function addonFile(build) {
  return join(packageDirectory, `terrace.${build}.node`)
}

/** Puts a file in its place. Copied under another name first: a running process may have the old file mapped. */
export function putInPlace(library, target) {
  copyFileSync(library, `${target}.new`)
  renameSync(`${target}.new`, target)
  console.log(`built ${target}`)
}
