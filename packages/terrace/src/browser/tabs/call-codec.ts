/** How the calls of a back-end travel to a worker: as the words and bytes of `calls.ts`. */

import type {
  Bytes,
  CursorOptions,
  CursorParts,
  FarPage,
  Operations,
  RangeDeletion,
  RemoteCall,
  RemoteCodec,
  RemoteCondition,
  TextAt,
  VersionedValue
} from 'terrace-core'
import { SHORT_BYTES, Texts } from '../consecutive-texts.js'
import { textAt } from '../utf8.js'
import { storeBatch, storeOne, storeTwo } from '../wasm/arguments.js'
import { partsFlags } from '../wasm/range-flags.js'
import type { ByteWriter } from './channel/byte-writer.js'
import { Call, CURRENT_STATE, NONE } from './channel/calls.js'
import { storeConditions } from './channel/condition-words.js'
import { storeRange } from './channel/range-words.js'

/** An answer that has arrived. */
export interface ArrivedAnswer {
  readonly words: readonly number[]
  readonly bytes: Uint8Array
}

/** A call whose bytes are the last ones that were stored. */
export interface WorkerCall<Result = unknown> extends RemoteCall<Result> {
  /** A {@link Call}. */
  readonly kind: number
  /** Where its bytes begin. */
  readonly at: number
  readonly words: readonly number[]
  readonly read: (answer: ArrivedAnswer) => Result
}

/** Makes a result of an answer. */
type ReadAnswer<Result> = (answer: ArrivedAnswer) => Result

export class CallCodec implements RemoteCodec {
  readonly #bytes: ByteWriter

  /** @param bytes - Where the keys and values of calls are stored. */
  constructor(bytes: ByteWriter) {
    this.#bytes = bytes
  }

  readonly textsOf = (bytes: Uint8Array, averageBytes: number): TextAt => {
    const texts = new Texts(bytes, averageBytes <= SHORT_BYTES)
    return (start, end) => texts.at(start, end)
  }

  get(key: Bytes, format: string | undefined, snapshot?: number): WorkerCall<Bytes | undefined> {
    return this.#ofKey(Call.get, key, snapshot, format === 'utf8' ? readText : readView)
  }

  getEntry(
    key: Bytes,
    format: string | undefined,
    snapshot?: number
  ): WorkerCall<VersionedValue | undefined> {
    const readValue = format === 'utf8' ? readText : readView
    return this.#ofKey(Call.getEntry, key, snapshot, (answer) => {
      const value = readValue(answer)
      return value === undefined ? undefined : [value, answer.words[1] as number]
    })
  }

  getMany(
    keys: Bytes[],
    format: string | undefined,
    snapshot?: number
  ): WorkerCall<Array<Bytes | undefined>> {
    return this.#ofKeys(Call.getMany, keys, snapshot, format === 'utf8' ? readTexts : readViews)
  }

  has(key: Bytes, snapshot?: number): WorkerCall<boolean> {
    return this.#ofKey(Call.has, key, snapshot, readPresence)
  }

  hasMany(keys: Bytes[], snapshot?: number): WorkerCall<boolean[]> {
    return this.#ofKeys(Call.hasMany, keys, snapshot, readPresences)
  }

  write(operations: Operations, sync: boolean): WorkerCall<void> {
    const at = this.#bytes.end
    const length = storeBatch(this.#bytes, operations)
    this.#bytes.end += length
    return { kind: Call.write, at, words: [Number(sync), length], read: readNothing }
  }

  writeIf(conditions: readonly RemoteCondition[], operations: Operations, sync: boolean): WorkerCall<void> {
    const at = this.#bytes.end
    const length = storeBatch(this.#bytes, operations)
    this.#bytes.end += length
    const words = [Number(sync), length, ...storeConditions(this.#bytes, conditions)]
    return { kind: Call.writeIf, at, words, read: readNothing }
  }

  clear(range: RangeDeletion, snapshot = CURRENT_STATE): WorkerCall<void> {
    const at = this.#bytes.end
    const words = [snapshot, ...storeRange(this.#bytes, range, range.reverse), range.limit]
    return { kind: Call.clear, at, words, read: readNothing }
  }

  read(cursor: number, _page: number, size: number, highWaterMarkBytes: number): WorkerCall<FarPage> {
    return this.plain(Call.read, [cursor, size, highWaterMarkBytes], readPage)
  }

  cursor(
    cursor: number,
    range: CursorOptions,
    parts: CursorParts,
    snapshot: number = CURRENT_STATE
  ): WorkerCall {
    const at = this.#bytes.end
    const [flags, lowerLength, upperLength] = storeRange(this.#bytes, range, range.reverse)
    const words = [cursor, snapshot, flags | partsFlags[parts], lowerLength, upperLength]
    return { kind: Call.cursor, at, words, read: readNothing }
  }

  seek(cursor: number, target: Uint8Array): WorkerCall {
    const at = this.#bytes.end
    this.#bytes.end += storeOne(this.#bytes, target)
    return { kind: Call.seek, at, words: [cursor, target.byteLength], read: readNothing }
  }

  closeCursor(cursor: number): WorkerCall {
    return this.plain(Call.closeCursor, [cursor])
  }

  snapshot(snapshot: number): WorkerCall {
    return this.plain(Call.snapshot, [snapshot])
  }

  closeSnapshot(snapshot: number): WorkerCall {
    return this.plain(Call.closeSnapshot, [snapshot])
  }

  approximateSize(start: Bytes, end: Bytes): WorkerCall<number> {
    return this.#ofRange(Call.approximateSize, start, end, readNumber)
  }

  compactRange(start: Bytes, end: Bytes): WorkerCall<void> {
    return this.#ofRange(Call.compactRange, start, end, readNothing)
  }

  /** A call that has words alone. */
  plain<Result = unknown>(
    kind: number,
    words: readonly number[],
    read: ReadAnswer<Result> = readNothing
  ): WorkerCall<Result> {
    return { kind, at: this.#bytes.end, words, read }
  }

  #ofKey<Result>(
    kind: number,
    key: Bytes,
    snapshot: number = CURRENT_STATE,
    read: ReadAnswer<Result>
  ): WorkerCall<Result> {
    const at = this.#bytes.end
    const length = storeOne(this.#bytes, key)
    this.#bytes.end += length
    return { kind, at, words: [snapshot, length], read }
  }

  #ofKeys<Result>(
    kind: number,
    keys: Bytes[],
    snapshot: number = CURRENT_STATE,
    read: ReadAnswer<Result>
  ): WorkerCall<Result> {
    const words = [snapshot]
    const at = this.#bytes.end
    for (const key of keys) {
      const length = storeOne(this.#bytes, key)
      this.#bytes.end += length
      words.push(length)
    }
    return { kind, at, words, read }
  }

  #ofRange<Result>(kind: number, start: Bytes, end: Bytes, read: ReadAnswer<Result>): WorkerCall<Result> {
    const at = this.#bytes.end
    const words = storeTwo(this.#bytes, start, end)
    this.#bytes.end += words[0] + words[1]
    return { kind, at, words, read }
  }
}

const readNothing = (): never => undefined as never

const readNumber: ReadAnswer<number> = ({ words }) => words[0] as number

const readText: ReadAnswer<Bytes | undefined> = ({ words, bytes }) =>
  words[0] === NONE ? undefined : textAt(bytes, 0, bytes.length)

const readView: ReadAnswer<Bytes | undefined> = ({ words, bytes }) =>
  words[0] === NONE ? undefined : bytes.slice()

const readTexts: ReadAnswer<Array<Bytes | undefined>> = (answer) => readEach(answer, readText)

const readViews: ReadAnswer<Array<Bytes | undefined>> = (answer) => readEach(answer, readView)

const readPresence: ReadAnswer<boolean> = ({ words }) => words[0] === 1

const readPresences: ReadAnswer<boolean[]> = ({ words }) => words.map((isThere) => isThere === 1)

function readEach<Result>({ words, bytes }: ArrivedAnswer, read: ReadAnswer<Result>): Result[] {
  let at = 0
  return words.map((length) => {
    const start = at
    at += Math.max(length, 0)
    return read({ words: [length], bytes: bytes.subarray(start, at) })
  })
}

const readPage: ReadAnswer<FarPage> = ({ words, bytes }) => {
  const [isLast, lastLength, ...lengths] = words
  const end = bytes.byteLength - Math.max(lastLength as number, 0)
  return {
    isLast: isLast === 1,
    bytes: bytes.subarray(0, end),
    lengths,
    last: lastLength === NONE ? null : bytes.slice(end)
  }
}
