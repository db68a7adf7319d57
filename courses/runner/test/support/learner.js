// A learner for tests: a directory, a home for progress, and a directory for temporary files.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { HANG_MS } from '../../../../tests/support/waiting.mjs'

export const tiny = fileURLToPath(new URL('../tiny', import.meta.url))

/** A directory that is removed when the test `t` ends. */
export function directory(t) {
  const path = mkdtempSync(join(tmpdir(), 'terrace-workshop-runner-'))
  t.after(() => rmSync(path, { recursive: true, force: true }))
  return path
}

export class Learner {
  constructor(t, { program = join(tiny, 'main.mjs'), env = {} } = {}) {
    this.t = t
    this.program = program
    const base = directory(t)
    for (const name of ['directory', 'home', 'temporary']) {
      this[name] = join(base, name)
      mkdirSync(this[name])
    }
    /** What a learner's terminal says of itself, without what the variables of this process say. */
    this.variables = {
      LANG: 'en_GB.UTF-8',
      LC_ALL: '',
      LC_MESSAGES: '',
      TERRACE_WORKSHOP_HOME: this.home,
      TERRACE_WORKSHOP_TIMEOUT_MS: String(HANG_MS),
      TMPDIR: this.temporary,
      TMP: this.temporary,
      TEMP: this.temporary,
      ...env
    }
    this.env = { ...process.env, ...this.variables }
  }

  /** Writes a file in the learner's directory. */
  write(name, text) {
    mkdirSync(dirname(join(this.directory, name)), { recursive: true })
    writeFileSync(join(this.directory, name), text)
  }

  read(name) {
    return readFileSync(join(this.directory, name), 'utf8')
  }

  has(name) {
    return existsSync(join(this.directory, name))
  }

  /** The path of the file of progress. */
  get progressFile() {
    return join(this.home, 'tiny.json')
  }

  get progress() {
    return JSON.parse(readFileSync(this.progressFile, 'utf8'))
  }

  /** What is left of temporary files. */
  get leftovers() {
    return readdirSync(this.temporary)
  }

  /** Starts the workshop. It is killed after the test, if it still runs. */
  start(...args) {
    const child = spawn(process.execPath, [this.program, ...args], {
      cwd: this.directory,
      env: this.env,
      stdio: ['ignore', 'pipe', 'pipe']
    })
    this.t.after(() => child.kill('SIGKILL'))
    const output = { out: '', err: '' }
    child.stdout.setEncoding('utf8').on('data', (text) => {
      output.out += text
    })
    child.stderr.setEncoding('utf8').on('data', (text) => {
      output.err += text
    })
    const closed = once(child, 'close').then(([code, signal]) => code ?? signal)
    return { child, output, closed }
  }

  /** Runs the workshop to its end. */
  async run(...args) {
    const { closed, output } = this.start(...args)
    const code = await closed
    return { code, ...output }
  }
}
