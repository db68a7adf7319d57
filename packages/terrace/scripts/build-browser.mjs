// Builds what Level and MemoryLevel stand on in browsers, and puts it beside the modules that use it.

import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { cargoBuild, packageDirectory, putInPlace } from './cargo-build.mjs'

const TARGET = 'wasm32-unknown-unknown'
const modules = join(packageDirectory, 'dist', 'browser')

// Where Rust comes without rustup, its package for this target has to be there.
const { stdout } = spawnSync('rustc', ['--print', 'target-libdir', '--target', TARGET], { encoding: 'utf8' })
if (!existsSync(`${stdout}`.trim())) {
  spawnSync('rustup', ['target', 'add', TARGET], { stdio: ['ignore', 'ignore', 'inherit'] })
}
mkdirSync(modules, { recursive: true })
for (const [crate, file] of [
  ['terrace-wasm', 'terrace.wasm'],
  ['terrace-wasm-memory', 'terrace-memory.wasm']
]) {
  const library = cargoBuild(crate, /\.wasm$/, '--target', TARGET, '--profile', 'wasm')
  putInPlace(library, join(modules, file))
}
