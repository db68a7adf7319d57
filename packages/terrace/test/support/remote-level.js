// A `Level` in a separate process, whose methods a test calls from here. Only values that `fork()` can send are passed.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { belongingsOf } from './databases.js'

const program = fileURLToPath(import.meta.url)

export class RemoteLevel {
  #child
  #calls = new Map()
  #count = 0

  /** @param options - Those of `Level`, and `env` and `cwd` of the process. */
  constructor(t, location, { env, cwd, ...options } = {}) {
    this.#child = fork(program, [location, JSON.stringify(options)], {
      cwd,
      env: { ...process.env, ...env, IS_REMOTE_LEVEL: '1' }
    })
    this.exited = once(this.#child, 'exit')
    // It ends before the directories of the test are removed.
    belongingsOf(t).databases.push({ close: () => this.kill() })
    this.#child.on('message', ({ id, value, error }) => {
      const { resolve, reject } = this.#calls.get(id)
      this.#calls.delete(id)
      if (error === undefined) resolve(value)
      else reject(errorOf(error))
    })
  }

  /** Calls a method, or reads a property. */
  call(name, ...args) {
    return new Promise((resolve, reject) => {
      const id = this.#count++
      this.#calls.set(id, { resolve, reject })
      this.exited.then(() => reject(new Error('The process has ended')))
      this.#child.send({ id, name, args })
    })
  }

  open = () => this.call('open')
  close = () => this.call('close')
  get = (key) => this.call('get', key)
  put = (key, value) => this.call('put', key, value)
  isOwner = () => this.call('isOwner')

  async kill() {
    this.#child.kill('SIGKILL')
    await this.exited
  }
}

function errorOf({ message, cause, ...rest }) {
  return Object.assign(new Error(message, cause && { cause: errorOf(cause) }), rest)
}

function textOf({ code, message, cause }) {
  return { code, message, ...(cause instanceof Error && { cause: textOf(cause) }) }
}

if (process.env.IS_REMOTE_LEVEL === '1' && process.argv[1] === program) {
  const { Level } = await import('terrace')
  const [, , location, options] = process.argv
  const db = new Level(location, { ...JSON.parse(options), passive: true })
  process.on('message', async ({ id, name, args }) => {
    try {
      const value = typeof db[name] === 'function' ? await db[name](...args) : db[name]
      process.send({ id, value })
    } catch (error) {
      process.send({ id, error: textOf(error) })
    }
  })
  process.on('disconnect', () => process.exit())
}
