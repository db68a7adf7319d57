/** A database that a worker has open, in this tab or in another one, as a back-end of `terrace-core`. */

import type {
  Backend,
  BackendManifest,
  BackendReadOptions,
  Bytes,
  CursorOptions,
  CursorParts,
  Fate,
  Operations,
  RangeDeletion
} from 'terrace-core'
import { storeBatch, storeOne, storeTwo } from '../arguments.js'
import { textAt } from '../text.js'
import type { ExportOptions } from '../transfer-options.js'
import { Call, NONE } from './calls.js'
import { storeRange } from './range-words.js'
import { RemoteCursor } from './remote-cursor.js'
import { remoteExport } from './remote-export.js'
import { type ReadAnswer, Requests } from './requests.js'
import { numberOf, WorkerSnapshot } from './worker-snapshot.js'

export abstract class RemoteBackend implements Backend<WorkerSnapshot> {
  abstract readonly manifest: BackendManifest
  /** Its channels come and go with {@link open} and {@link close}. */
  protected readonly requests = new Requests()

  abstract open(options: object): Promise<void>
  abstract close(): Promise<void>

  get(key: Bytes, options: BackendReadOptions, snapshot?: WorkerSnapshot): Promise<Bytes | undefined> {
    const read = options.valueEncoding === 'utf8' ? readText : readView
    return this.#askForKey(Call.get, key, snapshot, read)
  }

  getMany(
    keys: Bytes[],
    options: BackendReadOptions,
    snapshot?: WorkerSnapshot
  ): Promise<Array<Bytes | undefined>> {
    const read = options.valueEncoding === 'utf8' ? readTexts : readViews
    return this.#askForKeys(Call.getMany, keys, snapshot, read)
  }

  has(key: Bytes, _options: BackendReadOptions, snapshot?: WorkerSnapshot): Promise<boolean> {
    return this.#askForKey(Call.has, key, snapshot, readPresence)
  }

  hasMany(keys: Bytes[], _options: BackendReadOptions, snapshot?: WorkerSnapshot): Promise<boolean[]> {
    return this.#askForKeys(Call.hasMany, keys, snapshot, readPresences)
  }

  write(operations: Operations, sync: boolean): Promise<void> {
    const { bytes } = this.requests
    const at = bytes.end
    const length = storeBatch(bytes, operations)
    bytes.end += length
    return this.requests.ask(Call.write, at, [Number(sync), length], 'once', readNothing)
  }

  clear(range: RangeDeletion, snapshot?: WorkerSnapshot): Promise<void> {
    const { bytes } = this.requests
    const state = numberOf(snapshot)
    const at = bytes.end
    const words = [state, ...storeRange(bytes, range, range.reverse), range.limit]
    const fate = snapshot === undefined ? 'once' : 'once with state'
    return this.requests.ask(Call.clear, at, words, fate, readNothing)
  }

  cursor(options: CursorOptions, parts: CursorParts, snapshot?: WorkerSnapshot): RemoteCursor {
    return new RemoteCursor(this.requests, options, parts, snapshot)
  }

  snapshot(): WorkerSnapshot {
    return new WorkerSnapshot(this.requests)
  }

  approximateSize(start: Bytes, end: Bytes): Promise<number> {
    return this.#askForRange(Call.approximateSize, start, end, ([size]) => size as number)
  }

  compactRange(start: Bytes, end: Bytes): Promise<void> {
    return this.#askForRange(Call.compactRange, start, end, readNothing)
  }

  export(options: ExportOptions): AsyncGenerator<File, void, void> {
    return remoteExport(this.requests, options)
  }

  /** What is asked about a range changes nothing that is stored, so it can be asked again. */
  #askForRange<T>(kind: number, start: Bytes, end: Bytes, read: ReadAnswer<T>): Promise<T> {
    const { bytes } = this.requests
    const at = bytes.end
    const lengths = storeTwo(bytes, start, end)
    bytes.end += lengths[0] + lengths[1]
    return this.requests.ask(kind, at, lengths, 'repeat', read)
  }

  #askForKey<T>(
    kind: number,
    key: Bytes,
    snapshot: WorkerSnapshot | undefined,
    read: ReadAnswer<T>
  ): Promise<T> {
    const { bytes } = this.requests
    const state = numberOf(snapshot)
    const at = bytes.end
    const length = storeOne(bytes, key)
    bytes.end += length
    return this.requests.ask(kind, at, [state, length], fateOf(snapshot), read)
  }

  #askForKeys<T>(
    kind: number,
    keys: Bytes[],
    snapshot: WorkerSnapshot | undefined,
    read: ReadAnswer<T>
  ): Promise<T> {
    const { bytes } = this.requests
    const words = [numberOf(snapshot)]
    const at = bytes.end
    for (const key of keys) {
      const length = storeOne(bytes, key)
      bytes.end += length
      words.push(length)
    }
    return this.requests.ask(kind, at, words, fateOf(snapshot), read)
  }
}

function fateOf(snapshot: WorkerSnapshot | undefined): Fate {
  return snapshot === undefined ? 'repeat' : 'with state'
}

const readNothing = (): undefined => undefined

const readText: ReadAnswer<Bytes | undefined> = ([length], bytes) =>
  length === NONE ? undefined : textAt(bytes, 0, bytes.length)

const readView: ReadAnswer<Bytes | undefined> = ([length], bytes) =>
  length === NONE ? undefined : bytes.slice()

const readTexts: ReadAnswer<Array<Bytes | undefined>> = (lengths, bytes) => readEach(lengths, bytes, readText)

const readViews: ReadAnswer<Array<Bytes | undefined>> = (lengths, bytes) => readEach(lengths, bytes, readView)

const readPresence: ReadAnswer<boolean> = ([isThere]) => isThere === 1

const readPresences: ReadAnswer<boolean[]> = (words) => words.map((isThere) => isThere === 1)

function readEach<T>(lengths: readonly number[], bytes: Uint8Array, read: ReadAnswer<T>): T[] {
  let at = 0
  return lengths.map((length) => {
    const start = at
    at += Math.max(length, 0)
    return read([length], bytes.subarray(start, at))
  })
}
