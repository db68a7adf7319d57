import { Readable, Writable } from 'node:stream'
import type { AnyLevel } from '../level-like.js'
import { ClosingWatch } from './closing.js'
import { Items, type Kind } from './items.js'
import { operationOf } from './operations.js'
import { splitReadableOptions, splitWritableOptions } from './options.js'

type Done = (error?: Error | null) => void

/** A stream of Node of the items of a range. */
export class LevelReadable extends Readable {
  readonly #items: Items
  readonly #closing: ClosingWatch

  constructor(db: AnyLevel, kind: Kind, options: object) {
    const { highWaterMark, range } = splitReadableOptions(options)
    super({ objectMode: true, highWaterMark })
    this.#items = new Items(db, kind, range)
    this.#closing = new ClosingWatch(db, (error) => {
      this.destroy(error)
      return this.#items.close()
    })
  }

  override async _read(size: number): Promise<void> {
    try {
      const items = await this.#items.next(size)
      if (this.destroyed) return

      for (const item of items) this.push(item)
      if (items.length === 0) this.push(null)
    } catch (error) {
      this.destroy(error as Error)
    }
  }

  override _destroy(error: Error | null, done: Done): void {
    this.#closing.stop()
    this.#items.close().then(
      () => done(error),
      (closeError) => done(error ?? closeError)
    )
  }
}

/** A stream of Node that writes entries in batches. */
export class LevelWritable extends Writable {
  readonly #db: AnyLevel
  readonly #batchSize: number
  readonly #options: object
  readonly #closing: ClosingWatch

  constructor(db: AnyLevel, options: object) {
    const { batchSize, batch } = splitWritableOptions(options)
    super({ objectMode: true, highWaterMark: batchSize })
    this.#db = db
    this.#batchSize = batchSize
    this.#options = batch
    this.#closing = new ClosingWatch(db, async (error) => {
      this.destroy(error)
    })
  }

  override _write(chunk: unknown, _encoding: string, done: Done): void {
    this.#writeAll([chunk]).then(() => done(), done)
  }

  override _writev(chunks: Array<{ chunk: unknown }>, done: Done): void {
    this.#writeAll(chunks.map(({ chunk }) => chunk)).then(() => done(), done)
  }

  override _destroy(error: Error | null, done: Done): void {
    this.#closing.stop()
    done(error)
  }

  async #writeAll(chunks: unknown[]): Promise<void> {
    const operations = chunks.map(operationOf)
    for (let first = 0; first < operations.length; first += this.#batchSize) {
      const part = operations.slice(first, first + this.#batchSize)
      await this.#db.batch(part as never, this.#options)
    }
  }
}
