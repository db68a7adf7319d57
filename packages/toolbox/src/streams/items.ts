import { codedError } from '../errors.js'
import type { AnyLevel } from '../level-like.js'

/** The kinds of items that a stream can have. */
export type Kind = 'entries' | 'keys' | 'values'

/** An entry, as streams yield it. */
export interface Entry<K = string, V = string> {
  /** The key. */
  key: K
  /** The value. */
  value: V
}

interface AnyIterator {
  nextv(size: number): Promise<unknown[]>
  close(): Promise<void>
}

/** The items of a range, read in parts. */
export class Items {
  readonly #iterator: AnyIterator
  readonly #kind: Kind

  /** @throws LEVEL_DATABASE_NOT_OPEN if the database is closed. */
  constructor(db: AnyLevel, kind: Kind, range: object) {
    this.#kind = kind
    this.#iterator = iteratorOf(db, kind, range)
  }

  /** Reads the next items: at least one and at most `size`; none at the end. */
  async next(size: number): Promise<unknown[]> {
    const items = await this.#iterator.nextv(size)
    if (this.#kind === 'entries') {
      return (items as Array<[unknown, unknown]>).map(([key, value]) => ({ key, value }))
    }

    // To a stream, null is the end.
    if (items.some((item) => item === null || item === undefined)) {
      throw codedError(
        'STREAM_INVALID_ITEM',
        `One of the ${this.#kind} decodes to null or undefined, which a stream cannot contain`
      )
    }
    return items
  }

  close(): Promise<void> {
    return this.#iterator.close()
  }
}

function iteratorOf(db: AnyLevel, kind: Kind, range: object): AnyIterator {
  if (kind === 'keys') return db.keys(range)
  return kind === 'values' ? db.values(range) : db.iterator(range)
}
