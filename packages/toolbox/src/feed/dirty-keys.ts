/** The keys that were written since the last look, from the events of the root. */

import type { Buffer } from '../buffer.js'
import { byteString, bytesOf } from '../encoded.js'
import type { EncodedRange, KeySpace } from '../key-space.js'
import { AuxiliaryStore } from './auxiliary-store.js'
import { isWithin } from './range.js'
import { listen } from './root-events.js'
import type { Signal } from './signal.js'

/** The most keys that are kept. Beyond this, any key may have changed. */
const MAX_KEYS = 1000

/** An operation of the event `write`, in terms of the root. */
interface WrittenOperation {
  encodedKey: string | Uint8Array
}

/** Notes the written keys of a range. */
export class DirtyKeys {
  readonly #space: KeySpace
  readonly #range: EncodedRange
  readonly #news: Signal
  readonly #unlisten: Array<() => void>
  #keys = new Map<string, Buffer>()
  #isAll = false

  /** @param news - The signal to raise when there are some. */
  constructor(space: KeySpace, range: EncodedRange, news: Signal) {
    this.#space = space
    this.#range = range
    this.#news = news
    this.#unlisten = [
      listen(space.root, 'write', (operations) => this.#note(operations as WrittenOperation[])),
      listen(space.root, 'clear', () => this.#noteAll())
    ]
  }

  /** Takes the keys written since the last call; undefined if any key may have been. */
  take(): Buffer[] | undefined {
    const keys = this.#isAll ? undefined : [...this.#keys.values()]
    this.#keys.clear()
    this.#isAll = false
    return keys
  }

  close(): void {
    for (const unlisten of this.#unlisten) unlisten()
  }

  #note(operations: readonly WrittenOperation[]): void {
    if (this.#isAll) return
    const before = this.#keys.size

    for (const { encodedKey } of operations) {
      const key = this.#space.fromRoot(bytesOf(encodedKey))
      if (key === undefined || !isWithin(this.#range, key) || AuxiliaryStore.holds(this.#space, key)) continue
      this.#keys.set(byteString(key), key)
    }

    if (this.#keys.size > MAX_KEYS) this.#noteAll()
    else if (this.#keys.size > 0 || before > 0) this.#news.raise()
  }

  #noteAll(): void {
    this.#keys.clear()
    this.#isAll = true
    this.#news.raise()
  }
}
