/** How the calls of a back-end travel to a server: as messages of docs/net-protocol.md. */

import type {
  Bytes,
  CursorOptions,
  CursorParts,
  FarPage,
  Operations,
  RangeDeletion,
  RemoteCodec,
  TextAt
} from 'terrace-core'
import { copyOf, inFormat } from '../protocol/bytes.js'
import { Ask, partsCodes, wireRange } from '../protocol/messages.js'
import { packBytes } from '../protocol/pack-bytes.js'
import type { Link } from './link.js'
import { asItIs, type NetCall, netCall } from './net-call.js'

export class NetCodec implements RemoteCodec {
  readonly #link: Pick<Link, 'checkCount'>

  /** @param link - Knows how much the server takes at once. */
  constructor(link: Pick<Link, 'checkCount'>) {
    this.#link = link
  }

  /** Only in Node is there text. */
  readonly textsOf =
    (bytes: Uint8Array): TextAt =>
    (start, end) =>
      (bytes as Buffer).toString('utf8', start, end)

  get(key: Bytes, format: string | undefined, snapshot?: number): NetCall<Bytes | undefined> {
    const read = (value: Uint8Array | null): Bytes | undefined => received(value, format)
    return { message: [Ask.get, 0, key, snapshot ?? null], pack: packBytes, read }
  }

  getMany(keys: Bytes[], format: string | undefined, snapshot?: number): NetCall<Array<Bytes | undefined>> {
    this.#link.checkCount(keys.length)
    const read = (values: Array<Uint8Array | null>): Array<Bytes | undefined> =>
      values.map((value) => received(value, format))
    return { message: [Ask.getMany, 0, keys, snapshot ?? null], pack: packBytes, read }
  }

  has(key: Bytes, snapshot?: number): NetCall<boolean> {
    return { message: [Ask.has, 0, key, snapshot ?? null], pack: packBytes, read: asItIs }
  }

  hasMany(keys: Bytes[], snapshot?: number): NetCall<boolean[]> {
    this.#link.checkCount(keys.length)
    return { message: [Ask.hasMany, 0, keys, snapshot ?? null], pack: packBytes, read: asItIs }
  }

  write(operations: Operations, sync: boolean): NetCall<void> {
    this.#link.checkCount(operations.length / 2)
    return { message: [Ask.write, 0, operations, sync], pack: packBytes, read: nothing }
  }

  clear(range: RangeDeletion, snapshot?: number): NetCall<void> {
    const { reverse, limit } = range
    const most = limit < 0 ? null : limit
    return netCall(Ask.clear, [wireRange(range), reverse, most, snapshot ?? null], nothing)
  }

  read(cursor: number, page: number, size: number, highWaterMarkBytes: number): NetCall<FarPage> {
    return netCall(Ask.read, [cursor, page, size, highWaterMarkBytes], pageOf)
  }

  cursor(cursor: number, range: CursorOptions, parts: CursorParts, snapshot?: number): NetCall {
    const { reverse } = range
    return netCall(Ask.cursor, [cursor, wireRange(range), reverse, partsCodes[parts], snapshot ?? null])
  }

  seek(cursor: number, target: Uint8Array): NetCall {
    return netCall(Ask.seek, [cursor, target])
  }

  closeCursor(cursor: number): NetCall {
    return netCall(Ask.closeCursor, [cursor])
  }

  snapshot(snapshot: number): NetCall {
    return netCall(Ask.snapshot, [snapshot])
  }

  closeSnapshot(snapshot: number): NetCall {
    return netCall(Ask.closeSnapshot, [snapshot])
  }
}

function received(value: Uint8Array | null, format = 'view'): Bytes | undefined {
  return value === null ? undefined : inFormat(value, format)
}

function nothing(): void {}

const noBytes = new Uint8Array(0)

/** Reads a page as it travels: whether it is the last one, the bytes, the lengths, the last key. */
function pageOf(page: [boolean, Uint8Array | null, ...number[], Uint8Array | null]): FarPage {
  const last = page.pop() as Uint8Array | null
  const [isLast, bytes] = page
  // The chunk in which a page came holds little else, so the bytes may stay there.
  return {
    isLast,
    bytes: bytes ?? noBytes,
    lengths: page.slice(2) as number[],
    last: last === null ? null : copyOf(last)
  }
}
