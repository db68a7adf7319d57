// Runs cargo, and tells which files it has made of a crate.

import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, readFileSync, renameSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const packageDirectory = join(dirname(fileURLToPath(import.meta.url)), '..')

/** Builds the library of a crate. Returns its file. Ends this program if that fails. */
export function cargoBuild(crate, extension, ...options) {
  return fileOf(buildBy('build', crate, options), extension)
}

/**
 * Builds a crate by a subcommand of cargo that takes the options of `build`, with additions to the environment. Returns the files that
 * it is made into. Ends this program if that fails.
 */
export function buildBy(subcommand, crate, options, environment = {}) {
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

  return cargo.stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))
    .filter(({ reason, package_id: id }) => reason === 'compiler-artifact' && id.includes(`#${crate}@`))
    .filter(({ target }) => !target.kind.includes('custom-build'))
    .flatMap((message) => message.filenames)
}

/** The one of the files of a build whose name fits `pattern`. Ends this program if there is none. */
export function fileOf(files, pattern) {
  const found = files.find((file) => pattern.test(basename(file)))
  if (found === undefined) {
    console.error(`cargo did not report a file like ${pattern} among its results`)
    process.exit(1)
  }
  return found
}

/** The addon of a build: where the loader looks in a checkout, and what is packed. */
export function addonFile(build) {
  return join(packageDirectory, `terrace.${build}.node`)
}

/**
 * Puts a file in its place, unless it is there already. Copied under another name first: a running process may have the old file mapped.
 */
export function putInPlace(library, target) {
  if (existsSync(target) && readFileSync(target).equals(readFileSync(library))) return
  copyFileSync(library, `${target}.new`)
  renameSync(`${target}.new`, target)
  console.log(`built ${target}`)
}
