/** The back-end of `NetLevel`: each method is a request to the server. */

import type {
  Backend,
  BackendManifest,
  BackendReadOptions,
  Bytes,
  CursorOptions,
  CursorParts,
  Operations,
  RangeDeletion
} from 'terrace-core'
import { hasBuffers, inFormat } from '../protocol/bytes.js'
import { Ask, type Result, type TextRequestMessage } from '../protocol/messages.js'
import { packBytes } from '../protocol/pack-bytes.js'
import { wireRange } from '../protocol/parts.js'
import type { Link } from './link.js'
import { NetCursor } from './net-cursor.js'
import { NetSnapshot } from './net-snapshot.js'

/** What this side of the network takes and gives. Text becomes bytes here, without a detour. */
export const encodings = hasBuffers ? { utf8: true, buffer: true, view: true } : { view: true }

export class NetBackend implements Backend<NetSnapshot> {
  readonly manifest: BackendManifest = { encodings, shared: true }
  readonly #link: Link

  constructor(link: Link) {
    this.#link = link
  }

  open(): Promise<void> {
    return this.#link.open()
  }

  close(): Promise<void> {
    return this.#link.close()
  }

  get(key: Bytes, { valueEncoding }: BackendReadOptions, snapshot?: NetSnapshot): Promise<Bytes | undefined> {
    const convert = (value: Result<'get'>): Bytes | undefined => received(value, valueEncoding)
    return this.#read([Ask.get, 0, key, null], snapshot, convert)
  }

  getMany(
    keys: Bytes[],
    { valueEncoding }: BackendReadOptions,
    snapshot?: NetSnapshot
  ): Promise<Array<Bytes | undefined>> {
    this.#link.checkCount(keys.length)
    const convert = (values: Result<'getMany'>): Array<Bytes | undefined> =>
      values.map((value) => received(value, valueEncoding))
    return this.#read([Ask.getMany, 0, keys, null], snapshot, convert)
  }

  has(key: Bytes, _options: BackendReadOptions, snapshot?: NetSnapshot): Promise<boolean> {
    return this.#read([Ask.has, 0, key, null], snapshot)
  }

  hasMany(keys: Bytes[], _options: BackendReadOptions, snapshot?: NetSnapshot): Promise<boolean[]> {
    this.#link.checkCount(keys.length)
    return this.#read([Ask.hasMany, 0, keys, null], snapshot)
  }

  write(operations: Operations, sync: boolean): Promise<void> {
    this.#link.checkCount(operations.length / 2)
    return this.#link.ask('once', [Ask.write, 0, operations, sync], nothing, packBytes)
  }

  clear(range: RangeDeletion, snapshot?: NetSnapshot): Promise<void> {
    const { reverse, limit } = range
    const state = snapshot?.handle ?? null
    const most = limit < 0 ? null : limit
    const fate = state === null ? 'once' : 'once with state'
    return this.#link.ask(fate, [Ask.clear, 0, wireRange(range), reverse, most, state], nothing)
  }

  cursor(options: CursorOptions, parts: CursorParts, snapshot?: NetSnapshot): NetCursor {
    return new NetCursor(this.#link, options, parts, snapshot)
  }

  snapshot(): NetSnapshot {
    return new NetSnapshot(this.#link)
  }

  /** @param message - The place of the snapshot, the last part, is filled in here. */
  #read<T>(
    message: TextRequestMessage<'get' | 'getMany' | 'has' | 'hasMany'>,
    snapshot: NetSnapshot | undefined,
    convert?: (result: never) => T
  ): Promise<T> {
    if (snapshot === undefined) return this.#link.ask('repeat', message, convert, packBytes)
    message[3] = snapshot.handle
    return this.#link.ask('with state', message, convert, packBytes)
  }
}

function received(value: Uint8Array | null, format = 'view'): Bytes | undefined {
  return value === null ? undefined : inFormat(value, format)
}

function nothing(): void {}
