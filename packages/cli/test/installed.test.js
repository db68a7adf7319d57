// The program as npm installs it: from the archives of the package and of this platform's, without a network. In the short form what
// is in the archives is copied to where npm installs it.

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { programFile } from '../../../scripts/prebuilds/paths.mjs'
import { isShort, someOf } from '../../../tests/support/form.mjs'
import { environment, node, Projects, root } from '../../../tests/support/projects.mjs'
import { HANG_MS, until } from '../../../tests/support/waiting.mjs'
import { BUILDS, buildsFor } from '../dist/platform.js'

const projects = new Projects()
after(() => projects.remove())

const isWindows = process.platform === 'win32'
const name = isWindows ? 'terrace.exe' : 'terrace'
const source = join(root, 'packages/cli')
const { version, bin } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'))
const [here] = buildsFor(process)
let directory
let scope
let program
let launcher

before(() => {
  const files = { 'elsewhere.cjs': "Object.defineProperty(process, 'platform', { value: 'sunos' })" }
  directory = isShort && !isWindows ? copied(files) : installed(files)
  scope = join(directory, 'node_modules', '@terrace-db')
  program = join(scope, `cli-${here}`, name)
  launcher = join(directory, 'node_modules', 'terrace-cli', 'dist', 'main.js')
  cpSync(join(root, 'testdata', 'leveldb-1.23-snappy-bloom'), join(directory, 'database'), {
    recursive: true
  })
})

function installed(files) {
  return projects.make('installed', { archives: projects.pack('packages/cli'), files })
}

/** The same without npm, for systems where commands are links. */
function copied(files) {
  const directory = join(projects.directory, 'installed')
  const modules = join(directory, 'node_modules')
  const main = join(modules, 'terrace-cli')
  const platform = join(modules, '@terrace-db', `cli-${here}`)
  for (const part of ['dist', 'package.json'])
    cpSync(join(source, part), join(main, part), { recursive: true })
  cpSync(join(source, 'npm', here), platform, { recursive: true })
  copyFileSync(programFile(here), join(platform, name))
  mkdirSync(join(modules, '.bin'))
  for (const [command, file] of Object.entries(bin)) {
    chmodSync(join(main, file), 0o755)
    symlinkSync(join('..', 'terrace-cli', file), join(modules, '.bin', command))
  }
  writeFileSync(join(directory, 'package.json'), '{ "private": true }')
  for (const [file, text] of Object.entries(files)) writeFileSync(join(directory, file), text)
  return directory
}

/** Runs a command of a project as npm finds it. */
function npx(...args) {
  const options = { cwd: directory, env: environment, encoding: 'utf8', shell: isWindows, timeout: HANG_MS }
  return spawnSync('npx', ['--no-install', '--offline', ...args], options)
}

/** Does `work` while the package of this platform is `changed` by a function, and puts it back. */
function withChanged(change, work) {
  const kept = join(directory, 'kept')
  cpSync(scope, kept, { recursive: true })
  try {
    change()
    work()
  } finally {
    rmSync(scope, { recursive: true, force: true })
    renameSync(kept, scope)
  }
}

test('npx runs the program by both of its names', () => {
  for (const command of ['terrace-cli', 'terrace']) {
    const { status, stdout, stderr } = npx(command, '--version')
    assert.equal(stdout, `terrace ${version}\n`, stderr)
    assert.equal(status, 0)
  }
})

test('a database of LevelDB is read, to the end and through a pipe', () => {
  const args = ['scan', 'database']
  const { status, stdout, stderr } = isShort
    ? node(directory, launcher, ...args)
    : npx('terrace-cli', ...args)
  assert.equal(status, 0, stderr)
  const [, entries] = /^leveldb-1\.23-snappy-bloom (\d+)/m.exec(
    readFileSync(join(root, 'testdata', 'DIGESTS'), 'utf8')
  )
  assert.equal(stdout.trimEnd().split('\n').length, Number(entries))
})

test('what is written to its standard input arrives', () => {
  const put = spawnSync(process.execPath, [launcher, 'batch', 'written', '--create'], {
    cwd: directory,
    input: 'put\tplum\tblue\n',
    encoding: 'utf8'
  })
  assert.equal(put.status, 0, put.stderr)
  assert.equal(node(directory, launcher, 'get', 'written', 'plum').stdout, 'blue\n')
})

test('the exit code is that of the program', () => {
  assert.equal(node(directory, launcher, 'count', 'database').status, 0)
  const { status, stderr } = node(directory, launcher, 'scan', 'nowhere')
  assert.match(stderr, /there is no directory nowhere/)
  assert.equal(status, spawnSync(program, ['scan', 'nowhere'], { cwd: directory }).status)
  assert.notEqual(status, 0)
  assert.equal(
    node(directory, launcher, 'no-such-command').status,
    spawnSync(program, ['no-such-command']).status
  )
})

test('a signal reaches the program, and ends both', {
  skip: isWindows && 'Windows has no signals'
}, async () => {
  for (const signal of someOf(['SIGTERM', 'SIGINT', 'SIGHUP'])) {
    // It waits for commands on its standard input.
    const child = spawn(process.execPath, [launcher, 'shell', 'database'], {
      cwd: directory,
      env: environment
    })
    const ended = new Promise((resolve) => child.once('exit', (...ends) => resolve(ends)))
    const pid = await childOf(child.pid)
    child.kill(signal)
    assert.deepEqual(await ended, [null, signal])
    assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' }, 'the program has ended')
  }
})

test('a program that a signal ends takes the launcher with it', {
  skip: isWindows && 'Windows has no signals'
}, async () => {
  const child = spawn(process.execPath, [launcher, 'shell', 'database'], { cwd: directory, env: environment })
  const ended = new Promise((resolve) => child.once('exit', (...ends) => resolve(ends)))
  process.kill(await childOf(child.pid), 'SIGKILL')
  const [code, signal] = await ended
  assert.ok(signal === 'SIGKILL' || code === 128 + constants.signals.SIGKILL, `${code} ${signal}`)
})

test('a package that was omitted', () => {
  withChanged(
    () => rmSync(scope, { recursive: true }),
    () => {
      const { status, stdout, stderr } = node(directory, launcher, '--version')
      assert.equal(status, 3)
      assert.equal(stdout, '')
      assert.match(
        stderr,
        new RegExp(`@terrace-db/cli-${here}.*install terrace-cli again without --omit=optional`)
      )
    }
  )
})

test('a directory that was copied from another platform', () => {
  const [other] = BUILDS.filter((build) => !buildsFor(process).includes(build))
  withChanged(
    () => renameSync(join(scope, `cli-${here}`), join(scope, `cli-${other}`)),
    () => {
      const { status, stderr } = node(directory, launcher, '--version')
      assert.equal(status, 3)
      assert.match(
        stderr,
        new RegExp(`is here for ${other}, not for ${process.platform} on ${process.arch}: remove`)
      )
    }
  )
})

test('a platform without builds', () => {
  const { status, stderr } = node(directory, '--require', './elsewhere.cjs', launcher, '--version')
  assert.equal(status, 3)
  assert.match(stderr, new RegExp(`not published for sunos on ${process.arch}, only for linux-x64-gnu, `))
  assert.match(stderr, /cargo install terrace-cli/)
})

test('a program for another processor, and a damaged one', () => {
  const other = readFileSync(program)
  // Where Linux has the processor: the one of SPARC.
  other.writeUInt16LE(2, 18)
  const damaged = [
    Buffer.alloc(0),
    Buffer.alloc(0x4000, '\x7f'),
    ...(process.platform === 'linux' ? [other] : [])
  ]
  for (const contents of damaged) {
    withChanged(
      () => writeFileSync(program, contents),
      () => {
        const { status, stderr } = node(directory, launcher, '--version')
        assert.equal(status, 3)
        assert.match(stderr, /was found, but did not start\./)
        assert.ok(stderr.includes(program))
        assert.match(stderr, /damaged, or was built for another platform than .*: remove node_modules/)
      }
    )
  }
})

test('a program for another C library', { skip: process.platform !== 'linux' && 'of Linux alone' }, (t) => {
  const text = readFileSync(program, 'latin1')
  const [loader] = /\/lib\S*\/ld-[\w.-]+/.exec(text) ?? []
  if (loader === undefined) return t.diagnostic('the program is static, and names no loader')
  withChanged(
    () => writeFileSync(program, text.replace(loader, loader.replace(/.$/, '-')), 'latin1'),
    () => assert.match(node(directory, launcher).stderr, /built for another C library \(glibc or musl\)/)
  )
})

test('a program that may not be executed', { skip: isWindows && 'Windows has no such permission' }, () => {
  withChanged(
    () => chmodSync(program, 0o644),
    () => assert.match(node(directory, launcher).stderr, /may not be executed: check the permissions/)
  )
})

/** The process that another one has started. Waits until there is one. */
async function childOf(pid) {
  let found
  await until(() => {
    const { stdout } = spawnSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' })
    const pairs = stdout
      .trim()
      .split('\n')
      .map((line) => line.trim().split(/\s+/).map(Number))
    found = pairs.find(([, parent]) => parent === pid)
    return found !== undefined && isProgram(found[0])
  }, 'the program to start')
  return found[0]
}

/** Whether a process is the program yet, and no longer a copy of the launcher that is about to become it. */
function isProgram(pid) {
  const { stdout } = spawnSync('ps', ['-p', String(pid), '-o', 'comm='], { encoding: 'utf8' })
  return /terrace$/.test(stdout.trim())
}
