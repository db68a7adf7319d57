/** Executes the calls of one tab, with its cursors and snapshots, on a back-end in the worker. */

import {
  type BackendCursor,
  type BackendSnapshot,
  type Bytes,
  type CursorParts,
  PackedBuffer,
  type Page,
  type VersionedValue
} from 'terrace-core'
import { type BrowserBackend, maintained, versioned } from '../../browser-backend.js'
import { clear, VIEWS } from '../../clear-range.js'
import { RangeFlag } from '../../wasm/range-flags.js'
import { type Answer, Call, CURRENT_STATE, NONE, type WireCall } from '../channel/calls.js'
import { conditionsOf } from '../channel/condition-words.js'
import { rangeOf } from '../channel/range-words.js'
import { stateLost } from '../worker-connection.js'
import { operationsOf } from './batch-operations.js'
import { HostedExport } from './hosted-export.js'
import { joinable, joined } from './joined-writes.js'

/** A cursor of the tab. If it could not be made, reads fail with the reason. */
interface HostedCursor {
  readonly cursor?: BackendCursor
  readonly parts: CursorParts
  readonly failure?: unknown
}

const DONE: Answer = { words: [], parts: [] }

export class HostedCalls {
  readonly #backend: BrowserBackend
  readonly #cursors = new Map<number, HostedCursor>()
  readonly #snapshots = new Map<number, BackendSnapshot>()
  readonly #exports = new Map<number, HostedExport>()

  constructor(backend: BrowserBackend) {
    this.#backend = backend
  }

  /** Executes a call. Returns its answer, unless it has none. */
  run([kind, , at, ...words]: WireCall, bytes: Uint8Array): Answer | Promise<Answer> | undefined {
    const [first = 0, second = 0, third = 0] = words
    const take = taker(bytes, at)
    const backend = this.#backend
    switch (kind) {
      case Call.get:
        return after(backend.get(take(second), VIEWS, this.#state(first)), (value) => valuesAnswer([value]))
      case Call.getEntry:
        return after(versioned(backend).getEntry(take(second), VIEWS, this.#state(first)), entryAnswer)
      case Call.getMany:
        return after(backend.getMany(words.slice(1).map(take), VIEWS, this.#state(first)), valuesAnswer)
      case Call.has:
        return after(backend.has(take(second), VIEWS, this.#state(first)), (isThere) =>
          presenceAnswer([isThere])
        )
      case Call.hasMany:
        return after(backend.hasMany(words.slice(1).map(take), VIEWS, this.#state(first)), presenceAnswer)
      case Call.write:
        return after(this.#write(take(second), first === 1), () => DONE)
      case Call.writeIf:
        return after(this.#writeIf(words, take), () => DONE)
      case Call.clear:
        return after(this.#clear(words, take), () => DONE)
      case Call.read:
        return this.#read(first, second, third)
      case Call.cursor:
        this.#cursors.set(first, this.#open(words, take))
        return undefined
      case Call.seek:
        this.#cursors.get(first)?.cursor?.seek(take(second))
        return undefined
      case Call.closeCursor:
        this.#closeCursor(first)
        return undefined
      case Call.snapshot:
        this.#snapshots.set(first, backend.snapshot())
        return undefined
      case Call.closeSnapshot:
        this.#closeSnapshot(first)
        return undefined
      case Call.approximateSize:
        return after(
          maintained(backend, 'approximateSize').approximateSize(take(first), take(second)),
          sizeAnswer
        )
      case Call.compactRange:
        return after(maintained(backend, 'compactRange').compactRange(take(first), take(second)), () => DONE)
      case Call.export:
        this.#exports.set(first, new HostedExport((options) => maintained(backend, 'export').export(options)))
        return undefined
      case Call.nextFile: {
        const hosted = this.#exports.get(first)
        if (hosted === undefined) throw stateLost()
        return hosted.next()
      }
      case Call.closeExport:
        this.#closeExport(first)
        return undefined
      default:
        throw new RangeError(`There is no call ${kind}`)
    }
  }

  /** How many calls, from `start` on, {@link runTogether} can do. */
  together(calls: readonly WireCall[], start: number): number {
    return this.#backend.writeBatch === undefined ? 1 : joinable(calls, start)
  }

  /** Executes writes as one. All of them succeed or fail. Returns the answer to each. */
  runTogether(writes: readonly WireCall[], bytes: Uint8Array): Answer | Promise<Answer> {
    const { batch, sync } = joined(writes, bytes)
    return after(this.#write(batch, sync), () => DONE)
  }

  /** Releases everything that the tab still holds. */
  release(): void {
    for (const number of [...this.#cursors.keys()]) this.#closeCursor(number)
    for (const number of [...this.#snapshots.keys()]) this.#closeSnapshot(number)
    for (const number of [...this.#exports.keys()]) this.#closeExport(number)
  }

  #state(number: number): BackendSnapshot | undefined {
    return number === CURRENT_STATE ? undefined : this.#snapshot(number)
  }

  #snapshot(number: number): BackendSnapshot {
    const snapshot = this.#snapshots.get(number)
    if (snapshot === undefined) throw stateLost()
    return snapshot
  }

  #write(batch: Uint8Array, sync: boolean): void | Promise<void> {
    const backend = this.#backend
    if (backend.writeBatch !== undefined) return backend.writeBatch(batch, sync)
    return backend.write(operationsOf(batch), sync)
  }

  #writeIf([sync, length, ...words]: number[], take: Take): void | Promise<void> {
    const backend = this.#backend
    const operations = operationsOf(take(length as number))
    const conditions = conditionsOf(words, take, (number) => this.#snapshot(number))
    if (conditions.some((condition) => 'version' in condition)) versioned(backend)
    return backend.writeIf(conditions, operations, sync === 1)
  }

  #clear([state, flags, lowerLength, upperLength, limit]: number[], take: Take): void | Promise<void> {
    const range = rangeOf(flags as number, lowerLength as number, upperLength as number, take)
    const deletion = { ...range, limit: limit as number }
    const snapshot = this.#state(state as number)
    return clear(this.#backend, deletion, snapshot)
  }

  #open([, state, flags, lowerLength, upperLength]: number[], take: Take): HostedCursor {
    const parts = partsOf(flags as number)
    try {
      const range = rangeOf(flags as number, lowerLength as number, upperLength as number, take)
      const snapshot = this.#state(state as number)
      // A cursor over values yields no keys, and the tab needs the last one to continue with another worker.
      const cursor = this.#backend.cursor(
        { ...range, ...VIEWS },
        parts === 'values' ? 'entries' : parts,
        snapshot
      )
      return { cursor, parts }
    } catch (failure) {
      return { parts, failure }
    }
  }

  #read(number: number, size: number, highWaterMarkBytes: number): Answer | Promise<Answer> {
    const hosted = this.#cursors.get(number)
    if (hosted === undefined) throw stateLost()
    if (hosted.cursor === undefined) throw hosted.failure
    return after(hosted.cursor.read(size, highWaterMarkBytes), (page) => pageAnswer(page, hosted.parts))
  }

  #closeCursor(number: number): void {
    const cursor = this.#cursors.get(number)?.cursor
    this.#cursors.delete(number)
    quietly(() => cursor?.close())
  }

  #closeExport(number: number): void {
    const hosted = this.#exports.get(number)
    this.#exports.delete(number)
    quietly(() => hosted?.close())
  }

  #closeSnapshot(number: number): void {
    const snapshot = this.#snapshots.get(number)
    this.#snapshots.delete(number)
    quietly(() => snapshot?.close())
  }
}

/** Takes the next bytes of a call. */
type Take = (lengthBytes: number) => Uint8Array

function taker(bytes: Uint8Array, start: number): Take {
  let at = start
  return (lengthBytes) => {
    const from = at
    at += lengthBytes
    return bytes.subarray(from, at)
  }
}

function after<T>(result: T | Promise<T>, answer: (result: T) => Answer): Answer | Promise<Answer> {
  return result instanceof Promise ? result.then(answer) : answer(result)
}

/** A tab does not wait for releases. */
function quietly(release: () => void | Promise<void>): void {
  Promise.resolve(release()).catch(() => {})
}

function valuesAnswer(values: ReadonlyArray<Bytes | undefined>): Answer {
  const found = values as ReadonlyArray<Uint8Array | undefined>
  return {
    words: found.map((value) => value?.byteLength ?? NONE),
    parts: found.filter((value) => value !== undefined)
  }
}

function entryAnswer(entry: VersionedValue | undefined): Answer {
  if (entry === undefined) return valuesAnswer([undefined])
  const [value, version] = entry as readonly [Uint8Array, number]
  return { words: [value.byteLength, version], parts: [value] }
}

function sizeAnswer(sizeBytes: number): Answer {
  return { words: [sizeBytes], parts: [] }
}

function presenceAnswer(areThere: readonly boolean[]): Answer {
  return { words: areThere.map(Number), parts: [] }
}

function partsOf(flags: number): CursorParts {
  if ((flags & RangeFlag.values) === 0) return 'keys'
  return (flags & RangeFlag.keys) === 0 ? 'values' : 'entries'
}

/** The answer with a page: its bytes, then those of its last key. */
function pageAnswer([ended, buffer, ...page]: Page, parts: CursorParts): Answer {
  if (buffer !== undefined && parts !== 'values' && page.length > 0 && page.every(isLength)) {
    // The bytes already have the form that the tab expects.
    const lengths = page as number[]
    const last = lengths.at(parts === 'keys' ? -1 : -2) as number
    const lastEnd = buffer.byteLength - (parts === 'keys' ? 0 : (lengths.at(-1) as number))
    return {
      words: [Number(ended), last, ...lengths],
      parts: [buffer, buffer.subarray(lastEnd - last, lastEnd)]
    }
  }
  const pieces = new PackedBuffer(buffer)
  const all = page.map((piece) => (typeof piece === 'number' ? pieces.take(piece) : (piece as Uint8Array)))
  const last = all.at(parts === 'keys' ? -1 : -2)
  const wanted = parts === 'values' ? all.filter((_, index) => index % 2 === 1) : all
  const words = [Number(ended), last?.byteLength ?? NONE, ...wanted.map((piece) => piece.byteLength)]
  return { words, parts: last === undefined ? wanted : [...wanted, last] }
}

function isLength(piece: Bytes | number | undefined): boolean {
  return typeof piece === 'number'
}
