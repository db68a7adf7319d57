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
    this.directory = directory
    this.#Class = Class
  }

  /** A place for a database that nothing else uses. */
  newLocation() {
    return this.newLocations(1)[0]
  }

  /** Places for databases, in one new directory. @param {number} count */
  newLocations(count) {
    const directory = mkdtempSync(join(this.directory, 'run-'))
    return Array.from({ length: count }, (_, i) => join(directory, `db${i}`))
  }

  /**
   * A place that the runs of a target share: the first makes the database, and the others find it.
   * @param {string} name
   */
  sharedLocation(name) {
    return join(this.directory, `${name} of ${this.target.name.replaceAll('/', '-')}`)
  }

  /**
   * Opens a database, an empty one unless `location` names an existing one. `more` are further options of the database.
   * @param {{ encoding?: string, sync?: boolean, valueSize?: number, location?: string, more?: object }} [options] that differ
   * from the settings
   */
  async open({ encoding, sync = this.settings.sync, valueSize, location = this.newLocation(), more } = {}) {
    const keyEncoding = encoding ?? this.settings.keyEncoding
    const valueEncoding = encoding ?? this.settings.valueEncoding
    for (const wanted of [keyEncoding, valueEncoding]) {
      if (!this.supportsEncoding(wanted)) throw new UsageError(`there is no encoding ${wanted}`)
    }
    const entries = this.#entriesOf(keyEncoding, valueEncoding, valueSize)
    const options = { keyEncoding, valueEncoding, sync }
    const target = { ...this.target, options: { ...this.target.options, ...more } }
    return new Session(this.#Class, target, location, entries, options, (fileBytes) =>
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
  #entriesOf(keyEncoding, valueEncoding, valueSize = this.settings.valueSize) {
    const name = `${keyEncoding} ${valueEncoding} ${valueSize}`
    const { compressiblePercent, seed } = this.settings
    const entries =
      this.#entries.get(name) ??
      new Entries({ valueSize, compressiblePercent, keyEncoding, valueEncoding, seed })
    this.#entries.set(name, entries)
    return entries
  }
}
