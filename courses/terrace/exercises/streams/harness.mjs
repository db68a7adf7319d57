// Exports a place to a slow output, and once more to an output that fails.

import { Writable } from 'node:stream'
import { observedDatabase } from '../../support/observed-database.mjs'

const FAILURE = 'The disk is full'

/** Turns of the event loop in which what a failure has ended can close. */
const TURNS_TO_CLOSE = 100

export default async function harness(exportPlace, { entries, place, failAfter }, { directory }) {
  const db = await observedDatabase(directory, entries)
  const whole = await observe(db, exportPlace, place, Number.POSITIVE_INFINITY)
  const failing = await observe(db, exportPlace, place, failAfter)
  // Not closed, since that would end the process with the error of a stream that was left open. The process ends after this.
  return { whole, failing }
}

async function observe(db, exportPlace, place, failAfter) {
  db.forget()
  const output = new SlowOutput(db, failAfter)
  // The function need not listen to the output to learn that it has failed.
  output.on('error', () => {})
  let hasFailed = false
  try {
    await exportPlace(db, place, output)
  } catch (error) {
    if (error?.message !== FAILURE) throw error
    hasFailed = true
  }
  const { writableFinished: isFinished, text, mostAhead, ignoredFull } = output
  const { cursors, snapshots } = db.observed
  for (let turn = 0; turn < TURNS_TO_CLOSE && cursors.some(({ isClosed }) => !isClosed); turn++) {
    await new Promise(setImmediate)
  }
  return structuredClone({ text, mostAhead, ignoredFull, isFinished, hasFailed, cursors, snapshots })
}

/** Takes a chunk in each turn of the event loop, and notes how the writer treats it. */
class SlowOutput extends Writable {
  text = ''
  /** The largest number of entries that had been read, and not been written to it. */
  mostAhead = 0
  /** How many chunks were written although it had said that it is full. */
  ignoredFull = 0
  #db
  #failAfter
  #linesWritten = 0

  /** @param failAfter - How many characters it takes before it fails. */
  constructor(db, failAfter) {
    super({ highWaterMark: 4096 })
    this.#db = db
    this.#failAfter = failAfter
  }

  write(chunk, ...others) {
    const read = this.#db.observed.cursors.reduce((sum, { delivered }) => sum + delivered, 0)
    this.mostAhead = Math.max(this.mostAhead, read - this.#linesWritten)
    this.#linesWritten += String(chunk).split('\n').length - 1
    if (this.writableNeedDrain) this.ignoredFull++
    return super.write(chunk, ...others)
  }

  _write(chunk, _encoding, done) {
    this.text += chunk
    const error = this.text.length > this.#failAfter ? new Error(FAILURE) : null
    setImmediate(done, error)
  }
}
