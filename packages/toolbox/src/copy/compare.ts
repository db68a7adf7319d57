/** Makes a target that has entries equal to the source: walks through both in order, and writes what differs. */

import { bytesOf } from '../encoded.js'
import { codedError } from '../errors.js'
import type { AnyLevel } from '../level-like.js'
import type { BatchWriter } from './batch-writer.js'
import { isMarker } from './marker.js'
import { readAfter } from './scan.js'
import { compareKeys, type RawEntry } from './tally.js'

/**
 * The target's entries in order. Each read starts again after the last key, so that no snapshot of the target lasts as long as
 * the copy: it would retain everything that is replaced. The copy only writes before the current key, so it never encounters its
 * own writes.
 */
class TargetEntries {
  readonly #to: AnyLevel
  #page: RawEntry[] = []
  #position = 0
  #last: Uint8Array | undefined
  #isAtEnd = false

  constructor(to: AnyLevel) {
    this.#to = to
  }

  /** Whether {@link read} must be called before the current entry is known. */
  get mustRead(): boolean {
    return this.#position >= this.#page.length && !this.#isAtEnd
  }

  /** How the current key compares with `key`; 1 at the end. */
  order(key: Uint8Array | undefined): number {
    const entry = this.#page[this.#position]
    if (entry === undefined) return 1
    return key === undefined ? -1 : compareKeys(entry[0], key)
  }

  /** Returns the current entry and moves to the next one. */
  take(): RawEntry {
    return this.#page[this.#position++] as RawEntry
  }

  async read(): Promise<void> {
    const entries = await readAfter(this.#to, this.#last)
    this.#isAtEnd = entries.length === 0
    for (const [key] of entries) {
      if (this.#last !== undefined && compareKeys(this.#last, key) >= 0) throw orderError('target')
      this.#last = key
    }
    this.#page = entries.filter(([key]) => !isMarker(key))
    this.#position = 0
    // The read found only the marker.
    if (this.mustRead) await this.read()
  }
}

/** Passes the differences between a source, whose entries arrive in parts, and a target to a writer. */
export class Comparison {
  readonly #target: TargetEntries
  readonly #writer: BatchWriter
  #last: Uint8Array | undefined

  constructor(to: AnyLevel, writer: BatchWriter) {
    this.#target = new TargetEntries(to)
    this.#writer = writer
  }

  /**
   * Compares the next entries of the source.
   *
   * @throws COPY_KEY_ORDER if the keys are not in the order of their bytes.
   */
  async compare(part: RawEntry[]): Promise<void> {
    for (const entry of part) {
      const [key, value] = entry
      if (this.#last !== undefined && compareKeys(this.#last, key) >= 0) throw orderError('source')
      this.#last = key
      if (this.#writer.isFullFor(entry)) await this.#writer.pass()

      if (this.#target.mustRead || this.#target.order(key) < 0) await this.#deleteUpTo(key)
      const found = this.#target.order(key) === 0 ? this.#target.take() : undefined
      if (found === undefined || !bytesOf(value).equals(bytesOf(found[1]))) this.#writer.put(entry)
    }
  }

  /** Deletes the target's entries after the last entry of the source. */
  async finish(): Promise<void> {
    await this.#deleteUpTo(undefined)
  }

  /** Deletes the target's entries before `key`, or all remaining ones. */
  async #deleteUpTo(key: Uint8Array | undefined): Promise<void> {
    const target = this.#target
    while (true) {
      if (target.mustRead) await target.read()
      if (target.order(key) >= 0) return
      const entry = target.take()
      if (this.#writer.isFullFor(entry)) await this.#writer.pass()
      this.#writer.del(entry[0])
    }
  }
}

function orderError(whose: 'source' | 'target'): Error {
  return codedError(
    'COPY_KEY_ORDER',
    `The keys of the ${whose} are not in byte order, so source and target cannot be compared: copy into an empty database, or set ` +
      "existing: 'merge'"
  )
}
