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
import { hasBuffers } from '../protocol/bytes.js'
import { Ask, wireRange } from '../protocol/messages.js'
import type { Link } from './link.js'
import { NetCursor } from './net-cursor.js'
import { NetSnapshot } from './net-snapshot.js'

export class NetBackend implements Backend<NetSnapshot> {
  readonly manifest: BackendManifest = { encodings: { buffer: hasBuffers, view: true }, shared: true }
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

  async get(key: Bytes, _options: BackendReadOptions, snapshot?: NetSnapshot): Promise<Bytes | undefined> {
    return (await this.#read<Bytes | null>(Ask.get, key, snapshot)) ?? undefined
  }

  async getMany(
    keys: Bytes[],
    _options: BackendReadOptions,
    snapshot?: NetSnapshot
  ): Promise<Array<Bytes | undefined>> {
    this.#link.checkCount(keys.length)
    const values = await this.#read<Array<Bytes | null>>(Ask.getMany, keys, snapshot)
    return values.map((value) => value ?? undefined)
  }

  has(key: Bytes, _options: BackendReadOptions, snapshot?: NetSnapshot): Promise<boolean> {
    return this.#read(Ask.has, key, snapshot)
  }

  hasMany(keys: Bytes[], _options: BackendReadOptions, snapshot?: NetSnapshot): Promise<boolean[]> {
    this.#link.checkCount(keys.length)
    return this.#read(Ask.hasMany, keys, snapshot)
  }

  async write(operations: Operations, sync: boolean): Promise<void> {
    this.#link.checkCount(operations.length / 2)
    await this.#link.ask('never', Ask.write, operations, sync)
  }

  async clear(range: RangeDeletion, snapshot?: NetSnapshot): Promise<void> {
    const { reverse, limit } = range
    const state = snapshot?.handle ?? null
    await this.#link.ask('never', Ask.clear, wireRange(range), reverse, limit < 0 ? null : limit, state)
  }

  cursor(options: CursorOptions, parts: CursorParts, snapshot?: NetSnapshot): NetCursor {
    return new NetCursor(this.#link, options, parts, snapshot)
  }

  snapshot(): NetSnapshot {
    return new NetSnapshot(this.#link)
  }

  #read<T>(kind: number, what: unknown, snapshot: NetSnapshot | undefined): Promise<T> {
    return snapshot === undefined
      ? this.#link.ask('again', kind, what, null)
      : this.#link.ask('with session', kind, what, snapshot.handle)
  }
}
