/** A `clear()` that hook functions see: as batches of operations that delete. */

import { type Bytes, Flag, type NativeSnapshot } from './binding.js'
import { Cursor, type PrivateIteratorOptions } from './cursor.js'
import { HookedWrites } from './hooked-writes.js'
import { binding } from './load-binding.js'
import { identityOf } from './operation-list.js'
import type { Database, Place } from './place.js'
import { nativeSnapshot } from './snapshot.js'
import type { PrivateClearOptions, Store } from './store.js'
import { turn } from './turn.js'
import type { Task } from './write-queue.js'

/** Keys deleted by one batch: few, as hook functions may read and add several operations for each. */
const BATCH_KEYS = 256

export class HookedClear implements Task {
  readonly #store: Store
  readonly #options: PrivateClearOptions
  #cursor: Cursor<Bytes> | null = null
  /** The state whose keys are deleted. */
  #state: NativeSnapshot | null = null
  #failure: { error: unknown } | null = null
  #last: Bytes | undefined
  #remaining: number

  constructor(store: Store, options: PrivateClearOptions) {
    this.#store = store
    this.#options = options
    this.#remaining = options.limit < 0 ? Infinity : options.limit
  }

  start(isBlocking: boolean): void | Promise<void> {
    const { snapshot } = this.#options
    this.#state = nativeSnapshot(snapshot) ?? binding.snapshot(this.#store.native())
    if (!isBlocking) return this.#run()

    this.finish()
    this.#check()
  }

  /** Deletes what remains, on this thread. Whoever waits for the task hears of a failure. */
  finish(): void {
    const cursor = this.#open()

    try {
      for (let keys = takeSync(cursor); keys.length > 0; keys = takeSync(cursor)) {
        this.#delete(keys, Flag.blocking)
      }
    } catch (error) {
      this.#failure = { error }
    } finally {
      this.#close()
    }
  }

  async #run(): Promise<void> {
    const cursor = this.#open()

    try {
      for (
        let keys = await cursor.nextv(BATCH_KEYS);
        keys.length > 0;
        keys = await cursor.nextv(BATCH_KEYS)
      ) {
        if (this.#cursor !== cursor) break
        await (this.#delete(keys, 0) ?? turn(keys.length))
        if (this.#cursor !== cursor) break
      }
    } catch (error) {
      // Somebody who could not wait may have finished it meanwhile, and closed the cursor.
      if (this.#cursor === cursor) throw error
    } finally {
      if (this.#cursor === cursor) this.#close()
    }

    this.#check()
  }

  #check(): void {
    if (this.#failure !== null) throw this.#failure.error
  }

  #delete(keys: readonly Bytes[], flags: number): void | Promise<void> {
    const { queue, root } = this.#store
    const writes = new HookedWrites(root.place as Place, 'clear', { isSilent: true })
    queue.run(writes, () => {
      for (const key of keys) this.#take(writes, key as Uint8Array)
    })

    this.#last = keys.at(-1)
    this.#remaining -= keys.length
    return this.#store.write(writes.list.flat, flags)
  }

  /** Has a deletion seen in the terms of the deepest key space that has functions. */
  #take(writes: HookedWrites, key: Uint8Array): void {
    const space = this.#store.keySpaces.deepest(identityOf(key))
    const owner = space?.functions[0]?.owner ?? this.#store.root
    const prefix = space?.prefix ?? ''
    const local = key.subarray(prefix.length)
    const operation = { type: 'del', ...keyFor(owner, local) }
    writes.take(operation, owner, prefix)
  }

  /** Begins to read, or goes on with another cursor after the keys that are done. */
  #open(): Cursor<Bytes> {
    this.#cursor?.close()
    const { gte, gt, lte, lt, reverse } = this.#options
    const options: PrivateIteratorOptions = {
      reverse,
      keyEncoding: 'buffer',
      valueEncoding: 'buffer',
      limit: this.#remaining === Infinity ? -1 : this.#remaining
    }
    Object.assign(options, { gte, gt, lte, lt })

    if (this.#last !== undefined && reverse) Object.assign(options, { lt: this.#last, lte: undefined })
    if (this.#last !== undefined && !reverse) Object.assign(options, { gt: this.#last, gte: undefined })

    this.#cursor = new Cursor<Bytes>(
      this.#store.native(),
      options,
      Flag.keys,
      (cursor, index) => cursor.partAt(index),
      this.#state as NativeSnapshot
    )
    return this.#cursor
  }

  #close(): void {
    this.#cursor?.close()
    this.#cursor = null
    const { snapshot } = this.#options
    if (snapshot === undefined || snapshot === null) binding.snapshotClose(this.#state as NativeSnapshot)
  }
}

function takeSync(cursor: Cursor<Bytes>): Bytes[] {
  const keys: Bytes[] = []

  for (let key = cursor.nextSync(); key !== undefined; key = cursor.nextSync()) {
    if (keys.push(key) === BATCH_KEYS) break
  }

  return keys
}

/** A key as functions of a database expect it: decoded, if it is one that its encoding makes. */
function keyFor(owner: Database, bytes: Uint8Array): { key: unknown; keyEncoding: unknown } {
  const keyEncoding = owner.keyEncoding(undefined)
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

  try {
    const key = keyEncoding.decode(keyEncoding.format === 'utf8' ? buffer.toString() : buffer)
    if (buffer.equals(Buffer.from(keyEncoding.encode(key) as string))) return { key, keyEncoding }
  } catch {
    // It is another one's key.
  }

  return { key: buffer, keyEncoding: owner.keyEncoding('buffer') }
}
