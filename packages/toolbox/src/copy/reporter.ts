import type { AnyLevel } from '../level-like.js'
import type { CopyOptions, CopyProgress } from './options.js'
import { Pace } from './pace.js'
import { boundsOf } from './scan.js'
import type { Tally } from './tally.js'

/** Databases that can say about how many bytes of their files a range takes. */
interface Measured {
  approximateSize?(start: Uint8Array, end: Uint8Array, options: object): Promise<number>
}

/** After every key that is likely to be. */
const AFTER_ALL = new Uint8Array(64).fill(0xff)

/** Reports the progress of a copy. */
export class CopyReporter {
  readonly #from: AnyLevel & Measured
  readonly #onProgress: CopyOptions<unknown>['onProgress']
  readonly #start: Uint8Array
  readonly #end: Uint8Array
  readonly #pace = new Pace()

  constructor(from: AnyLevel, { range = {}, onProgress }: CopyOptions<unknown>) {
    const { gt, gte = gt, lt, lte = lt } = boundsOf(from, range)
    this.#from = from
    this.#onProgress = onProgress
    this.#start = gte ?? new Uint8Array(0)
    this.#end = lte ?? AFTER_ALL
  }

  /** Reports how many entries were copied, unless a report was made a moment ago. */
  async copied(tally: Tally): Promise<void> {
    if (this.#onProgress === undefined || !this.#pace.isDue()) return
    this.#tell('copying', tally, await this.#estimate(tally))
  }

  /** Reports how many entries were compared, unless a report was made a moment ago. */
  verified(tally: Tally, totalBytes: number): void {
    if (this.#pace.isDue()) this.#tell('verifying', tally, totalBytes)
  }

  /** Reports the end of a phase. */
  finish(phase: CopyProgress['phase'], tally: Tally): void {
    this.#tell(phase, tally, tally.summary.bytes)
  }

  #tell(phase: CopyProgress['phase'], tally: Tally, estimatedBytes: number | undefined): void {
    const { entries, bytes } = tally.summary
    this.#onProgress?.({ phase, entries, bytes, estimatedBytes })
  }

  /** The bytes that there will be, if the rest of the files holds as many for its size as what was read so far. */
  async #estimate(tally: Tally): Promise<number | undefined> {
    const { lastKey } = tally
    if (lastKey === undefined || typeof this.#from.approximateSize !== 'function') return undefined
    try {
      const done = await this.#sizeUpTo(lastKey)
      const all = await this.#sizeUpTo(this.#end)
      return done > 0 && all >= done ? Math.round(tally.summary.bytes * (all / done)) : undefined
    } catch {
      // An estimate is no reason to fail. If the database cannot be read, the copy will hear of it.
      return undefined
    }
  }

  async #sizeUpTo(key: Uint8Array): Promise<number> {
    return (await this.#from.approximateSize?.(this.#start, key, { keyEncoding: 'view' })) ?? 0
  }
}
