/** An IndexedDB database as a back-end of `terrace-core`. */

import {
  type Backend,
  type BackendCondition,
  type BackendReadOptions,
  type Bytes,
  type CursorOptions,
  type CursorParts,
  conflict,
  type Operations,
  type RangeDeletion
} from 'terrace-core'
import { boundsOf } from './bounds.js'
import { clear } from './clear.js'
import { ConditionalWrite } from './conditional-write.js'
import { Connection } from './connection.js'
import { IndexedDbCursor } from './cursor.js'
import { History, type View } from './history.js'
import { hasLocks, type Release, takeLock } from './lock.js'
import type { Place } from './open-database.js'
import type { IndexedDbOpenOptions } from './options.js'
import { RangeWalk } from './range-walk.js'
import { Reader } from './reader.js'
import { Writer } from './writer.js'

/** What exists while the database is open. */
interface Session {
  readonly release: Release
  readonly connection: Connection
  readonly history: History
  readonly reader: Reader
  readonly writer: Writer
}

export class IndexedDbBackend implements Backend<View> {
  readonly storage = 'indexeddb'
  readonly manifest = {
    encodings: { utf8: true, view: true },
    conditionalWrites: true,
    createIfMissing: true,
    errorIfExists: true
  }
  readonly #place: Place
  #session: Session | undefined
  /** Called when the browser has removed the database. */
  onLost: (error: Error) => void = () => {}

  constructor(place: Place) {
    this.#place = place
  }

  /** The class over this back-end makes no call that needs the session before it is open. */
  get #opened(): Session {
    return this.#session as Session
  }

  async open(options: IndexedDbOpenOptions): Promise<void> {
    const { name } = this.#place
    const release = await takeLock(name, options.allowMissingLocks === true)
    const history = new History()
    const connection = new Connection(this.#place, (error) => this.onLost(error))
    try {
      await connection.open({
        createIfMissing: options.createIfMissing !== false,
        errorIfExists: options.errorIfExists === true
      })
    } catch (error) {
      await release()
      throw error
    }
    const reader = new Reader(connection)
    this.#session = { release, connection, history, reader, writer: new Writer(connection, history) }
  }

  async close(): Promise<void> {
    const { reader, writer, connection, release } = this.#opened
    try {
      reader.flush()
      await writer.idle()
    } finally {
      try {
        connection.close()
      } finally {
        await release()
      }
    }
  }

  async get(key: Bytes, options: BackendReadOptions, view?: View): Promise<Bytes | undefined> {
    const [value] = await this.#opened.reader.values([key], options.valueEncoding, view)
    return value
  }

  getMany(keys: Bytes[], options: BackendReadOptions, view?: View): Promise<Array<Bytes | undefined>> {
    return this.#opened.reader.values(keys, options.valueEncoding, view)
  }

  async has(key: Bytes, _options: BackendReadOptions, view?: View): Promise<boolean> {
    const [isThere] = await this.#opened.reader.presence([key], view)
    return isThere as boolean
  }

  hasMany(keys: Bytes[], _options: BackendReadOptions, view?: View): Promise<boolean[]> {
    return this.#opened.reader.presence(keys, view)
  }

  write(operations: Operations, sync: boolean): Promise<void> {
    return this.#opened.writer.write(operations, sync)
  }

  async writeIf(
    conditions: ReadonlyArray<BackendCondition<View>>,
    operations: Operations,
    sync: boolean
  ): Promise<void> {
    const { writer, connection, history } = this.#opened
    const write = new ConditionalWrite(history, conditions, operations, hasLocks())
    let failed: number[] = []
    await writer.alone(async () => {
      failed = await connection.run(write.mode, sync, (store) => write.run(store))
    })
    if (failed.length > 0) throw conflict(failed, conditions.length)
  }

  clear(range: RangeDeletion, view?: View): Promise<void> {
    const { writer, connection, history } = this.#opened
    return clear(writer, connection, history, range, view)
  }

  cursor(options: CursorOptions, parts: CursorParts, snapshot?: View): IndexedDbCursor {
    const { connection, history } = this.#opened
    const view = snapshot ?? history.view()
    const { reverse } = options
    const walkOptions = { bounds: boundsOf(options), reverse, hasValues: parts !== 'keys', view }
    const makeWalk = () => new RangeWalk(connection, walkOptions)
    return new IndexedDbCursor(makeWalk, options, parts, () => {
      if (snapshot === undefined) view.close()
    })
  }

  snapshot(): View {
    return this.#opened.history.view()
  }
}
