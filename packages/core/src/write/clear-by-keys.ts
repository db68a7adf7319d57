/** A `clear()` that functions with `everyWrite` see, or for which the back-end has no method. It runs as batches of deletions. */

import type { BackendSnapshot, Bytes, Operations } from '../backend.js'
import { Buffer } from '../buffer.js'
import { yieldToEventLoop } from '../event-loop.js'
import { EveryWrite } from '../hooks/every-write.js'
import type { HookReads } from '../hooks/hook-reads.js'
import { asksFor } from '../hooks/reading-ahead.js'
import type { Database } from '../level/database.js'
import type { PrivateClearOptions, Store } from '../level/store.js'
import { Cursor, type PrivateIteratorOptions } from '../read/cursor.js'
import { backendSnapshot } from '../read/snapshot.js'
import { HookedOperation } from './hooked-operation.js'
import { identityOf } from './operation-list.js'
import type { Task } from './write-queue.js'

/** Keys that one batch deletes. Few, because hook functions may read and add several operations for each. */
const BATCH_KEYS = 256

export class ClearByKeys implements Task {
  readonly isAnnounced = true
  readonly #store: Store
  readonly #options: PrivateClearOptions
  #cursor: Cursor<Bytes> | null = null
  /** The state whose keys are deleted. */
  #state: BackendSnapshot | null = null
  #failure: { error: unknown } | null = null
  #isDone = false
  #last: Bytes | undefined
  #remaining: number

  constructor(store: Store, options: PrivateClearOptions) {
    this.#store = store
    this.#options = options
    this.#remaining = options.limit < 0 ? Infinity : options.limit
  }

  start(isBlocking: boolean): void | Promise<void> {
    const { snapshot } = this.#options
    this.#state = backendSnapshot(snapshot) ?? this.#store.backend.snapshot()
    if (!isBlocking) return this.#run()

    this.finish()
    this.#check()
  }

  /** Deletes the remaining keys on this thread. If that fails, the promise of the task rejects. */
  finish(): void {
    // The task may be done before the caller that awaits it knows.
    if (this.#isDone) return

    try {
      const cursor = this.#open()
      for (let keys = takeSync(cursor); keys.length > 0; keys = takeSync(cursor)) {
        this.#deleteSync(keys)
      }
    } catch (error) {
      this.#failure ??= { error }
    } finally {
      this.#end()
    }
  }

  async #run(): Promise<void> {
    try {
      const cursor = this.#open()

      while (!this.#isDone) {
        const keys = await readMany(cursor, () => this.#isDone)
        // A synchronous write may have finished the task meanwhile.
        if (this.#isDone || keys.length === 0) break
        await (this.#delete(keys) ?? yieldToEventLoop(keys.length))
      }
    } catch (error) {
      this.#failure ??= { error }
    } finally {
      this.#end()
    }

    this.#check()
  }

  #check(): void {
    if (this.#failure !== null) throw this.#failure.error
  }

  #delete(keys: readonly Bytes[]): void | Promise<void> {
    const { hookReads } = this.#store
    if (hookReads !== null) return this.#deleteLater(keys, hookReads)
    return this.#store.write(this.#operations(keys), false)
  }

  /** Deletes keys once functions know what they read. */
  async #deleteLater(keys: readonly Bytes[], reads: HookReads): Promise<void> {
    const { queue } = this.#store
    const everyWrite = new EveryWrite(this.#store, [], 'clear')
    const deletions = keys.map((key) => this.#deletion(key as Uint8Array))
    const asks = deletions.flatMap((each) => asksFor(this.#store, each.target, () => each))
    const steps = everyWrite.takeAllInSteps(reads, deletions)

    await reads.runAlone(asks, (work) => queue.run(everyWrite, work), steps)
    this.#goOnAfter(keys)
    return this.#store.write(everyWrite.list.flat, false)
  }

  #deleteSync(keys: readonly Bytes[]): void {
    this.#store.writeSync(this.#operations(keys), false)
  }

  /** The operations that delete these keys. */
  #operations(keys: readonly Bytes[]): Operations {
    const everyWrite = new EveryWrite(this.#store, [], 'clear')
    this.#store.queue.run(everyWrite, () => {
      for (const key of keys) everyWrite.take(this.#deletion(key as Uint8Array))
    })

    this.#goOnAfter(keys)
    return everyWrite.list.flat
  }

  #goOnAfter(keys: readonly Bytes[]): void {
    this.#last = keys.at(-1)
    this.#remaining -= keys.length
  }

  /** The deletion of a key of the root, in terms of the deepest key space that has functions. */
  #deletion(key: Uint8Array): HookedOperation {
    const { keySpaces, root } = this.#store
    const owner = keySpaces.deepest(identityOf(key))?.functions[0]?.owner ?? root
    const local = key.subarray((owner.prefix ?? '').length)
    return HookedOperation.of({ type: 'del', ...keyFor(owner, local) }, owner, root)
  }

  /** Begins to read, or continues with a new cursor after the keys that are done. */
  #open(): Cursor<Bytes> {
    release(this.#cursor)
    const { gte, gt, lte, lt, reverse } = this.#options
    const { format } = this.#store.root.keyEncoding('buffer')
    const options: PrivateIteratorOptions = {
      reverse,
      keyEncoding: format,
      valueEncoding: format,
      limit: this.#remaining === Infinity ? -1 : this.#remaining
    }
    Object.assign(options, { gte, gt, lte, lt })

    if (this.#last !== undefined && reverse) Object.assign(options, { lt: this.#last, lte: undefined })
    if (this.#last !== undefined && !reverse) Object.assign(options, { gt: this.#last, gte: undefined })

    this.#cursor = new Cursor<Bytes>(
      this.#store.backend,
      options,
      'keys',
      (cursor, index) => cursor.partAt(index),
      this.#state as BackendSnapshot
    )
    return this.#cursor
  }

  #end(): void {
    if (this.#isDone) return
    this.#isDone = true
    release(this.#cursor)
    const { snapshot } = this.#options
    if (snapshot === undefined || snapshot === null) release(this.#state)
  }
}

/** Closes what was read from. A failure to release it does not undo the deletions. */
async function release(closable: { close(): void | Promise<void> } | null): Promise<void> {
  try {
    await closable?.close()
  } catch {}
}

/** The next keys to delete; none if the cursor was closed because everything is done. */
async function readMany(cursor: Cursor<Bytes>, isDone: () => boolean): Promise<Bytes[]> {
  try {
    return await cursor.nextv(BATCH_KEYS)
  } catch (error) {
    if (isDone()) return []
    throw error
  }
}

function takeSync(cursor: Cursor<Bytes>): Bytes[] {
  const keys: Bytes[] = []

  for (let key = cursor.nextSync(); key !== undefined; key = cursor.nextSync()) {
    if (keys.push(key) === BATCH_KEYS) break
  }

  return keys
}

/** A key as the functions of a database expect it: decoded, if its encoding can have made it. */
function keyFor(owner: Database, bytes: Uint8Array): { key: unknown; keyEncoding: unknown } {
  const keyEncoding = owner.keyEncoding(undefined)
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

  try {
    const key = keyEncoding.decode(keyEncoding.format === 'utf8' ? buffer.toString() : buffer)
    if (buffer.equals(Buffer.from(keyEncoding.encode(key) as string))) return { key, keyEncoding }
  } catch {
    // The encoding did not make this key.
  }

  return { key: buffer, keyEncoding: owner.keyEncoding('buffer') }
}
