/** The context of a workload: its settings, its target, and the record of what it measures. */

import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { Entries } from './entries.js'
import { UsageError } from './errors.js'
import { Random, shuffled, zipfian } from './random.js'
import { Recorder } from './recorder.js'
import { Session } from './session.js'

export class Context {
  recorder = new Recorder()
  #Class
  #directory
  /** @type {Map<string, Entries>} */
  #entries = new Map()

  /**
   * @param {object} job
   * @param {import('./targets/resolve.js').Target} job.target
   * @param {import('./settings.js').Settings} job.settings
   * @param {string} job.directory where databases may be made
   * @param {import('./targets/load.js').DatabaseClass} Class
   * @param {(share: number) => void} progress called with the share of the work that is done
   */
  constructor({ target, settings, directory }, Class, progress) {
    this.target = target
    this.settings = settings
    this.progress = progress
    this.#directory = directory
    this.#Class = Class
  }

  /**
   * Opens an empty database.
   * @param {{ encoding?: string, sync?: boolean }} [options] that differ from the settings
   */
  async open({ encoding, sync = this.settings.sync } = {}) {
    const keyEncoding = encoding ?? this.settings.keyEncoding
    const valueEncoding = encoding ?? this.settings.valueEncoding
    for (const wanted of [keyEncoding, valueEncoding]) {
      if (!this.supportsEncoding(wanted)) throw new UsageError(`there is no encoding ${wanted}`)
    }
    const location = join(mkdtempSync(join(this.#directory, 'run-')), 'db')
    const entries = this.#entriesOf(keyEncoding, valueEncoding)
    const options = { keyEncoding, valueEncoding, sync }
    return new Session(this.#Class, this.target, location, entries, options, (fileBytes) =>
      this.recorder.addFileBytes(fileBytes)
    ).open()
  }

  /**
   * Returns which entry is the i-th to be used.
   * @param {number} n entries that exist
   * @param {'sorted' | 'random' | 'zipfian'} order
   * @returns {(i: number) => number}
   */
  sequence(n, order) {
    if (order === 'sorted') return (i) => i % n
    const random = new Random(this.settings.seed)
    const indexes = shuffled(n, random)
    if (order === 'random') return (i) => indexes[i % n]
    // Scattered, so that frequent numbers are not neighbours.
    const next = zipfian(n, random)
    return () => indexes[next()]
  }

  /** The order that the settings ask for. */
  get order() {
    const { keyOrder, keyDistribution } = this.settings
    return keyDistribution === 'zipfian' ? 'zipfian' : keyOrder
  }

  /**
   * Whether the target can store data in `encoding`.
   * @param {string} encoding
   */
  supportsEncoding(encoding) {
    const { encodings } = /** @type {{ encodings?: string[] }} */ (this.#Class)
    return encodings === undefined || encodings.includes(encoding)
  }

  /** @param {string} keyEncoding @param {string} valueEncoding */
  #entriesOf(keyEncoding, valueEncoding) {
    const name = `${keyEncoding} ${valueEncoding}`
    const { valueSize, compressiblePercent, seed } = this.settings
    const entries =
      this.#entries.get(name) ??
      new Entries({ valueSize, compressiblePercent, keyEncoding, valueEncoding, seed })
    this.#entries.set(name, entries)
    return entries
  }
}
