import type { BackendCursor, Bytes, CursorOptions, CursorParts, Page } from 'terrace-core'
import { Flag, type NativeDatabase, type NativeIterator } from './binding.js'
import { binding } from './load-binding.js'
import type { NativeSnapshot } from './native-snapshot.js'

const partFlags = { keys: Flag.keys, values: Flag.values, entries: Flag.keys | Flag.values }

/** The addon's flags for what a cursor yields, in which formats and order. */
export function cursorFlags(options: CursorOptions, parts: CursorParts, snapshot: unknown): number {
  let flags: number = partFlags[parts]
  if (options.keyEncoding !== 'utf8') flags |= Flag.keysAsBuffers
  if (options.valueEncoding !== 'utf8') flags |= Flag.valuesAsBuffers
  if (options.reverse) flags |= Flag.reverse
  if (snapshot !== undefined) flags |= Flag.snapshot
  return flags
}

/** An iterator of the engine. */
export class NativeCursor implements BackendCursor {
  readonly #native: NativeIterator

  constructor(
    database: NativeDatabase,
    options: CursorOptions,
    parts: CursorParts,
    snapshot: NativeSnapshot | undefined
  ) {
    let flags = cursorFlags(options, parts, snapshot)
    if (options.fillCache === true) flags |= Flag.fillCache
    this.#native = binding.iterator(database, options, flags, snapshot?.native)
  }

  read(size: number, highWaterMarkBytes: number): Page | Promise<Page> {
    return binding.iteratorRead(this.#native, size, highWaterMarkBytes, 0)
  }

  readSync(size: number, highWaterMarkBytes: number): Page {
    return binding.iteratorRead(this.#native, size, highWaterMarkBytes, Flag.blocking) as Page
  }

  seek(target: Bytes): void {
    binding.iteratorSeek(this.#native, target)
  }

  abort(): void {
    binding.iteratorAbort(this.#native)
  }

  close(): void {
    binding.iteratorClose(this.#native)
  }
}
