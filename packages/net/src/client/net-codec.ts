/** Encodes the calls of a back-end as messages of docs/net-protocol.md. */

import {
  type Bytes,
  type CursorOptions,
  type CursorParts,
  conflict,
  type FarPage,
  type Operations,
  type RangeDeletion,
  type RemoteCodec,
  type RemoteCondition,
  type TextAt,
  type VersionedValue
} from 'terrace-core'
import { copyOf, inFormat } from '../protocol/bytes.js'
import { weightOf, wireConditions } from '../protocol/conditions.js'
import { protocolError } from '../protocol/errors.js'
import { Ask, type Result } from '../protocol/messages.js'
import { contentsCodes, type WirePage, wireRange } from '../protocol/parts.js'
import type { Link } from './link.js'
import { type NetCall, netCall, textCall } from './net-call.js'

export class NetCodec implements RemoteCodec {
  readonly #link: Pick<Link, 'checkCount'>

  /** @param link - Knows the server's limits. */
  constructor(link: Pick<Link, 'checkCount'>) {
    this.#link = link
  }

  /** Only called in Node, where bytes are buffers. */
  readonly textsOf =
    (bytes: Uint8Array): TextAt =>
    (start, end) =>
      (bytes as Buffer).toString('utf8', start, end)

  get(key: Bytes, format: string | undefined, snapshot?: number): NetCall<Bytes | undefined> {
    const read = (value: Result<'get'>): Bytes | undefined => received(value, format)
    return textCall([Ask.get, 0, key, snapshot ?? null], read)
  }

  getEntry(key: Bytes, format: string | undefined, snapshot?: number): NetCall<VersionedValue | undefined> {
    const read = (entry: Result<'getEntry'>): VersionedValue | undefined =>
      entry === null ? undefined : [inFormat(entry[0], format ?? 'view'), entry[1]]
    return textCall([Ask.getEntry, 0, key, snapshot ?? null], read)
  }

  getMany(keys: Bytes[], format: string | undefined, snapshot?: number): NetCall<Array<Bytes | undefined>> {
    this.#link.checkCount(keys.length)
    const read = (values: Result<'getMany'>): Array<Bytes | undefined> =>
      values.map((value) => received(value, format))
    return textCall([Ask.getMany, 0, keys, snapshot ?? null], read)
  }

  has(key: Bytes, snapshot?: number): NetCall<boolean> {
    return textCall([Ask.has, 0, key, snapshot ?? null])
  }

  hasMany(keys: Bytes[], snapshot?: number): NetCall<boolean[]> {
    this.#link.checkCount(keys.length)
    return textCall([Ask.hasMany, 0, keys, snapshot ?? null])
  }

  write(operations: Operations, sync: boolean): NetCall<void> {
    this.#link.checkCount(operations.length / 2)
    return textCall([Ask.write, 0, operations, sync], nothing)
  }

  writeIf(conditions: readonly RemoteCondition[], operations: Operations, sync: boolean): NetCall<void> {
    this.#link.checkCount(operations.length / 2 + weightOf(conditions))
    const { length } = conditions
    const read = (failed: Result<'writeIf'>): void => {
      if (failed !== null) throw conflict(indicesOf(failed, length), length)
    }
    return textCall([Ask.writeIf, 0, wireConditions(conditions), operations, sync], read)
  }

  clear(range: RangeDeletion, snapshot?: number): NetCall<void> {
    const { reverse, limit } = range
    const most = limit < 0 ? null : limit
    return netCall([Ask.clear, 0, wireRange(range), reverse, most, snapshot ?? null], nothing)
  }

  read(cursor: number, page: number, size: number, highWaterMarkBytes: number): NetCall<FarPage> {
    return netCall([Ask.read, 0, cursor, page, size, highWaterMarkBytes], pageOf)
  }

  cursor(cursor: number, range: CursorOptions, parts: CursorParts, snapshot?: number): NetCall {
    const { reverse } = range
    return netCall([Ask.cursor, 0, cursor, wireRange(range), reverse, contentsCodes[parts], snapshot ?? null])
  }

  seek(cursor: number, target: Uint8Array): NetCall {
    return netCall([Ask.seek, 0, cursor, target])
  }

  closeCursor(cursor: number): NetCall {
    return netCall([Ask.closeCursor, 0, cursor])
  }

  snapshot(snapshot: number): NetCall {
    return netCall([Ask.snapshot, 0, snapshot])
  }

  closeSnapshot(snapshot: number): NetCall {
    return netCall([Ask.closeSnapshot, 0, snapshot])
  }
}

/** The answer to a write of which conditions do not hold: their indices. */
function indicesOf(answer: readonly number[], count: number): number[] {
  const isIndex = (each: unknown): boolean =>
    Number.isInteger(each) && (each as number) >= 0 && (each as number) < count
  if (Array.isArray(answer) && answer.length > 0 && answer.every(isIndex)) return [...answer]
  throw protocolError(
    'The server has answered a conditional write with something else than indices of its conditions'
  )
}

function received(value: Uint8Array | null, format = 'view'): Bytes | undefined {
  return value === null ? undefined : inFormat(value, format)
}

function nothing(): void {}

const noBytes = new Uint8Array(0)

/** Converts a page from its form on the wire. */
function pageOf(page: WirePage): FarPage {
  const last = page.pop() as Uint8Array | null
  const [isLast, bytes] = page
  // The chunk that brought the page holds little else, so the bytes may stay in it.
  return {
    isLast,
    bytes: bytes ?? noBytes,
    lengths: page.slice(2) as number[],
    last: last === null ? null : copyOf(last)
  }
}
