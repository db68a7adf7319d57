// A writer in a separate process, which can be killed at any moment, and what it reported while it lived.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { HANG_MS } from '../../../../../tests/support/waiting.mjs'
import { runtime } from './runtime.js'

const writer = fileURLToPath(new URL('./writer.js', import.meta.url))

export class Victim {
  /** Whether it had opened the database. */
  opened = false
  /** The newest acknowledged write of each lane. All earlier ones took effect before it. */
  acknowledged
  /** How many writes it acknowledged. */
  acknowledgements = 0
  /** The checkpoints that it began: the name, and what had been acknowledged at the beginning and at the end. */
  checkpoints = []

  #process
  #hangs = false
  #lines
  #wanted = []
  #errors = ''

  constructor(directory, seed, counts, checkpoints) {
    this.acknowledged = [...counts]
    const words = [writer, directory, String(seed), counts.join(), checkpoints, runtime]
    this.#process = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'pipe'] })
    this.#process.stderr.on('data', (data) => {
      this.#errors += data
    })
    this.#lines = createInterface({ input: this.#process.stdout })
    this.#lines.on('line', (line) => this.#hear(line))
    this.#lines.on('close', () => {
      for (const { resolve } of this.#wanted) resolve(false)
    })
  }

  /** Waits until it prints a wanted line; does not wait if what it has printed so far is enough. */
  async waitFor(wanted) {
    if (wanted(undefined, this)) return
    const timer = setTimeout(() => {
      this.#hangs = true
      this.#process.kill('SIGKILL')
    }, HANG_MS)
    const heard = new Promise((resolve) => {
      this.#wanted.push({ wanted, resolve, timer })
    })
    const found = await heard
    clearTimeout(timer)
    if (!found) throw new Error(this.#hangs ? `the writer never says ${wanted}` : this.#lastWords)
  }

  /** Kills it, and waits until it is gone and all its output has been read. */
  async kill() {
    const gone = Promise.all([once(this.#process, 'close'), once(this.#lines, 'close')])
    this.#process.kill('SIGKILL')
    const [[, signal]] = await gone
    if (signal !== 'SIGKILL') throw new Error(this.#lastWords)
  }

  get #lastWords() {
    return `the writer ended by itself: ${this.#errors}`
  }

  #hear(line) {
    const [kind, ...words] = line.split(' ')
    if (kind === 'opened') this.opened = true
    if (kind === 'ack') {
      const [lane, number] = words.map(Number)
      // Promises may be fulfilled in an order other than that of the writes.
      this.acknowledged[lane] = Math.max(this.acknowledged[lane], number)
      this.acknowledgements++
    }

    if (kind === 'checkpoint') this.checkpoints.push({ name: words[0], atLeast: [...this.acknowledged] })
    if (kind === 'checkpointed') {
      this.checkpoints.find(({ name }) => name === words[0]).doneAt = [...this.acknowledged]
    }

    this.#wanted = this.#wanted.filter(({ wanted, resolve, timer }) => {
      timer.refresh()
      const found = wanted(kind, this)
      if (found) resolve(true)
      return !found
    })
  }
}
