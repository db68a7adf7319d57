import type { BackendCursor, Bytes, CursorOptions, CursorParts, Page } from 'terrace-core'
import { binding } from './load-binding.js'
import type { NativeMemory, NativeMemoryIterator, NativeMemorySnapshot } from './memory-binding.js'
import { cursorFlags } from './native-cursor.js'

/** An iterator over a map in memory. */
export class MemoryCursor implements BackendCursor {
  readonly #native: NativeMemoryIterator

  constructor(
    memory: NativeMemory,
    options: CursorOptions,
    parts: CursorParts,
    snapshot: NativeMemorySnapshot | undefined
  ) {
    this.#native = binding.memoryIterator(memory, options, cursorFlags(options, parts, snapshot), snapshot)
  }

  read(size: number, highWaterMarkBytes: number): Page {
    return binding.memoryIteratorRead(this.#native, size, highWaterMarkBytes)
  }

  readSync(size: number, highWaterMarkBytes: number): Page {
    return this.read(size, highWaterMarkBytes)
  }

  seek(target: Bytes): void {
    binding.memoryIteratorSeek(this.#native, target)
  }

  close(): void {
    binding.memoryIteratorClose(this.#native)
  }
}
