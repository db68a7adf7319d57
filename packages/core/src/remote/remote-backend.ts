/**
 * A database on the other side of a connection: in a server, in a worker, in another process or tab. What becomes of each call when that
 * side is lost is said here; `pending-calls.ts` does it.
 */

import type {
  Backend,
  BackendCondition,
  BackendManifest,
  BackendReadOptions,
  Bytes,
  CursorOptions,
  CursorParts,
  Operations,
  RangeDeletion,
  VersionedValue
} from '../backend.js'
import { codedError } from '../errors.js'
import type { RemoteCodec, RemoteCondition, RemoteConnection } from './connection.js'
import type { Fate } from './pending-calls.js'
import { RemoteCursor } from './remote-cursor.js'
import { RemoteSnapshot } from './remote-snapshot.js'

/** A back-end on the other side of a connection. Subclasses implement `open` and `close`. */
export abstract class RemoteBackend implements Backend<RemoteSnapshot> {
  abstract readonly manifest: BackendManifest
  readonly #connection: RemoteConnection
  readonly #codec: RemoteCodec

  constructor(connection: RemoteConnection, codec: RemoteCodec) {
    this.#connection = connection
    this.#codec = codec
  }

  abstract open(options: object): void | Promise<void>

  abstract close(): void | Promise<void>

  get(
    key: Bytes,
    { valueEncoding }: BackendReadOptions,
    snapshot?: RemoteSnapshot
  ): Promise<Bytes | undefined> {
    return this.#connection.ask(fateOf(snapshot), this.#codec.get(key, valueEncoding, snapshot?.handle))
  }

  /** A manifest declares versions only if the codec has this call. */
  getEntry(
    key: Bytes,
    { valueEncoding }: BackendReadOptions,
    snapshot?: RemoteSnapshot
  ): Promise<VersionedValue | undefined> {
    const codec = this.#codec as Required<RemoteCodec>
    return this.#connection.ask(fateOf(snapshot), codec.getEntry(key, valueEncoding, snapshot?.handle))
  }

  getMany(
    keys: Bytes[],
    { valueEncoding }: BackendReadOptions,
    snapshot?: RemoteSnapshot
  ): Promise<Array<Bytes | undefined>> {
    return this.#connection.ask(fateOf(snapshot), this.#codec.getMany(keys, valueEncoding, snapshot?.handle))
  }

  has(key: Bytes, _options: BackendReadOptions, snapshot?: RemoteSnapshot): Promise<boolean> {
    return this.#connection.ask(fateOf(snapshot), this.#codec.has(key, snapshot?.handle))
  }

  hasMany(keys: Bytes[], _options: BackendReadOptions, snapshot?: RemoteSnapshot): Promise<boolean[]> {
    return this.#connection.ask(fateOf(snapshot), this.#codec.hasMany(keys, snapshot?.handle))
  }

  write(operations: Operations, sync: boolean): Promise<void> {
    return this.#connection.ask('once', this.#codec.write(operations, sync))
  }

  writeIf(
    conditions: ReadonlyArray<BackendCondition<RemoteSnapshot>>,
    operations: Operations,
    sync: boolean
  ): Promise<void> {
    const remote = conditions.map((condition) => this.#remote(condition))
    const fate = conditions.some(({ kind }) => kind === 'unchanged') ? 'once with state' : 'once'
    return this.#connection.ask(fate, this.#codec.writeIf(remote, operations, sync))
  }

  /** A snapshot of another connection would mean another state here: the numbers of snapshots are not unique. */
  #remote(condition: BackendCondition<RemoteSnapshot>): RemoteCondition {
    if (condition.kind !== 'unchanged') return condition
    const { kind, range, snapshot } = condition
    if (!(snapshot instanceof RemoteSnapshot) || !snapshot.isOf(this.#connection)) {
      throw codedError('LEVEL_INVALID_ARGUMENT', 'The snapshot of a condition is not one of this database')
    }
    return { kind, range, snapshot: snapshot.handle }
  }

  clear(range: RangeDeletion, snapshot?: RemoteSnapshot): Promise<void> {
    const fate = snapshot === undefined ? 'once' : 'once with state'
    return this.#connection.ask(fate, this.#codec.clear(range, snapshot?.handle))
  }

  cursor(options: CursorOptions, parts: CursorParts, snapshot?: RemoteSnapshot): RemoteCursor {
    return new RemoteCursor(this.#connection, this.#codec, options, parts, snapshot)
  }

  snapshot(): RemoteSnapshot {
    return new RemoteSnapshot(this.#connection, this.#codec)
  }
}

/** What becomes of a read. */
function fateOf(snapshot: RemoteSnapshot | undefined): Fate {
  return snapshot === undefined ? 'repeat' : 'with state'
}
