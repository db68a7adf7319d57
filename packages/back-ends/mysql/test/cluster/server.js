// One server of MariaDB or MySQL, in a separate directory and on 127.0.0.1.

import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import mysql from 'mysql2/promise'
import { HANG_MS } from '../../../../../tests/support/waiting.mjs'
import { ownDirectory, removeDirectory, signalGroup, spawnOwn } from './belongings.js'
import { giveToServerUser } from './installation.js'
import { LOOPBACK } from './ports.js'
import { serverArguments } from './settings.js'
import { SCHEMA } from './template.js'
import { until } from './waiting.js'

const END_LIMIT_MS = 20_000
/** How long to wait for an answer, in ms: a hanging server does not answer, or only later. */
export const ANSWER_LIMIT_MS = 5000

/** A server that can be killed, suspended and restarted; its data stays until {@link stop}. */
export class Server {
  #child
  #files

  /**
   * @param {import('./products.js').Product} product
   * @param files - See {@link newServer}.
   */
  constructor(product, name, port, files, args) {
    this.#files = files
    this.product = product
    this.name = name
    this.port = port
    this.accounts = files.accounts
    this.directory = ownDirectory(`terrace-${product.name.toLowerCase()}`)
    /** The arguments of every start. */
    this.arguments = [...serverArguments(this), ...args]
  }

  /** The address for {@link MysqlLevel}, with the password. */
  get url() {
    const { user, password } = this.accounts.user
    return `mysql://${user}:${password}@${LOOPBACK}:${this.port}/${SCHEMA}`
  }

  /** Whether its process is alive, even if suspended. */
  get isRunning() {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null
  }

  get pid() {
    return this.#child?.pid
  }

  /** Makes the files of a new server, with its users and its schema. */
  async install() {
    giveToServerUser(this.directory)
    await this.#files.copyTo(join(this.directory, 'data'))
  }

  /**
   * Starts the process, and waits until it serves.
   *
   * @param args - Arguments for this start alone.
   */
  async start(args = []) {
    this.launch(args)
    await this.ready()
  }

  /** Starts the process without waiting. */
  launch(args = []) {
    if (this.isRunning) throw new Error(`${this.name} runs already`)
    const log = openSync(join(this.directory, 'log'), 'a')
    this.#child = spawnOwn([...this.product.command(), ...this.arguments, ...args], log)
    closeSync(log)
  }

  /** Waits until it serves clients. Fails if its process ends. */
  async ready(limitMs = HANG_MS) {
    await until(`${this.name} serves`, limitMs, async () => {
      if (!this.isRunning) {
        throw Object.assign(new Error(`${this.name} has ended:\n${this.#lastLines()}`), { isFinal: true })
      }
      return (await this.isServing()) ? true : undefined
    })
  }

  /** Whether it answers now and, in a cluster, has caught up. */
  async isServing() {
    await this.query('SELECT 1', ANSWER_LIMIT_MS)
    return true
  }

  /** Runs one statement as the administrator, on a separate connection, for at most `limitMs`. */
  async query(sql, limitMs = HANG_MS) {
    const { user, password } = this.accounts.admin
    const options = { host: LOOPBACK, port: this.port, user, password, connectTimeout: limitMs }
    const connection = await mysql.createConnection(options)
    // If the connection breaks after the answer, that does not matter.
    connection.on('error', () => {})
    try {
      const [rows] = await connection.query({ sql, timeout: limitMs })
      connection.end().catch(() => {})
      return rows
    } catch (error) {
      connection.destroy()
      throw error
    }
  }

  /** Kills it without warning, like the loss of its machine, and waits until it is gone. */
  async kill() {
    if (!this.isRunning) return
    const gone = once(this.#child, 'exit')
    signalGroup(this.#child, 'SIGKILL')
    await gone
  }

  /** Shuts it down, and waits; kills it if that takes too long. */
  async shutDown() {
    if (!this.isRunning) return
    const gone = once(this.#child, 'exit')
    const timer = setTimeout(() => signalGroup(this.#child, 'SIGKILL'), END_LIMIT_MS)
    this.#child.kill('SIGTERM')
    await gone
    clearTimeout(timer)
  }

  /** Makes it hang: its connections stay, but nothing answers (SIGSTOP). */
  suspend() {
    this.#child.kill('SIGSTOP')
  }

  /** Resumes it after {@link suspend}. */
  resume() {
    this.#child.kill('SIGCONT')
  }

  /** Ends it permanently, and removes its data. */
  async stop() {
    await this.kill()
    removeDirectory(this.directory)
  }

  #lastLines() {
    return readFileSync(join(this.directory, 'log'), 'utf8').split('\n').slice(-25).join('\n')
  }
}
