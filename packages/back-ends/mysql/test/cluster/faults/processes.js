// The processes that write and read, from outside.

import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { HANG_MS } from '../../../../../../tests/support/waiting.mjs'
import { pause } from '../waiting.js'

class Other {
  #process
  #waiting = new Map()

  constructor(program, argument) {
    const path = fileURLToPath(new URL(program, import.meta.url))
    this.#process = fork(path, [JSON.stringify(argument)])
    this.#process.on('message', (message) => {
      for (const [name, { resolve }] of this.#waiting) if (name in message) resolve(message)
    })
    this.#process.on('exit', (code) => {
      for (const [name, { reject }] of this.#waiting) {
        reject(new Error(`the process has ended with ${code}, before it sent: ${name}`))
      }
    })
  }

  /** The next message with this name. Fails if the process ends before, or if it takes too long. */
  async message(name) {
    let timer
    try {
      return await new Promise((resolve, reject) => {
        this.#waiting.set(name, { resolve, reject })
        timer = setTimeout(() => reject(new Error(`the process did not send: ${name}`)), HANG_MS)
      })
    } finally {
      clearTimeout(timer)
      this.#waiting.delete(name)
    }
  }

  tell(message) {
    this.#process.send(message)
  }

  /** Tells it to stop, and returns the message with this name, the last one. */
  async stop(name) {
    const last = this.message(name)
    this.tell('stop')
    const message = await last
    this.#process.disconnect()
    return message
  }

  end() {
    this.#process.kill('SIGKILL')
  }
}

/** Runs writers, and perhaps readers, beside a function. They end with it, also if it fails. */
export class Load {
  #others = []
  #writers = []
  #readers = []

  /** A writer for each element, which has what the program writer.js wants. */
  async write(elements) {
    const writers = elements.map((each) => new Other('writer.js', { depth: 1, first: 1, ...each }))
    this.#others.push(...writers)
    this.#writers.push(...writers)
    await Promise.all(writers.map((writer) => writer.message('ready')))
  }

  async read(elements) {
    const readers = elements.map((each) => new Other('reader.js', each))
    this.#others.push(...readers)
    this.#readers.push(...readers)
    await Promise.all(readers.map((reader) => reader.message('ready')))
  }

  /** How many writes of each writer have been acknowledged so far. */
  async acknowledged() {
    return Promise.all(
      this.#writers.map(async (writer) => {
        const answer = writer.message('progress')
        writer.tell('progress')
        return (await answer).progress.acknowledged
      })
    )
  }

  /** Waits until each writer has had `count` more writes acknowledged. */
  async advance(count, limitMs = HANG_MS) {
    const end = performance.now() + limitMs
    const from = await this.acknowledged()
    for (;;) {
      const counts = await this.acknowledged()
      if (counts.every((each, i) => each >= from[i] + count)) return
      if (performance.now() > end) throw new Error(`the writers had ${counts} acknowledged, at first ${from}`)
      await pause(50)
    }
  }

  /** Lets all end, and returns what they have noted: the writes, how often databases were opened again, the counts of readers. */
  async stop() {
    const [writers, readers] = await Promise.all([
      Promise.all(this.#writers.map((writer) => writer.stop('writes'))),
      Promise.all(this.#readers.map((reader) => reader.stop('counts')))
    ])
    return {
      writes: writers.flatMap(({ writes }) => writes),
      reopened: writers.reduce((sum, { reopened }) => sum + reopened, 0),
      readers: readers.map(({ counts }) => counts)
    }
  }

  /** Ends all at once. */
  end() {
    for (const other of this.#others) other.end()
  }
}
