/** A map in WebAssembly as a back-end of `terrace-core`. Each call is answered within it. */

import type { Bytes, Operations } from 'terrace-core'
import type { MemoryStats, MemoryStore } from '../../memory-database.js'
import { limitOf, type MemoryOpenOptions } from '../../memory-options.js'
import type { ModuleLoader } from '../load-modules.js'
import { storeBatch, storeTwo } from '../wasm/arguments.js'
import { assertHeld, storeConditional, type WasmCondition } from '../wasm/conditions.js'
import { Engine } from '../wasm/engine.js'
import { WasmReads } from '../wasm/reads.js'
import type { WasmSnapshot } from '../wasm/snapshot.js'

/** The largest number that the module takes means no limit: it has no more memory. */
const NO_LIMIT = 0xffffffff

export class MemoryBackend extends WasmReads implements MemoryStore<WasmSnapshot> {
  readonly storage = 'memory'
  readonly manifest = {
    encodings: { utf8: true, view: true },
    syncReads: true,
    syncWrites: true,
    conditionalWrites: true,
    permanence: false
  }
  readonly #load: ModuleLoader
  /** Made by the first opening. The entries are still there when the database is opened again. */
  #engine: Engine | undefined

  constructor(load: ModuleLoader) {
    super()
    this.#load = load
  }

  protected get opened(): Engine {
    return this.#engine as Engine
  }

  async open(options: MemoryOpenOptions): Promise<void> {
    const limit = limitOf(options)
    this.#engine ??= new Engine(await this.#load())
    this.#engine.call('terrace_limit', Math.min(limit, NO_LIMIT))
  }

  close(): void {}

  write(operations: Operations): void {
    const engine = this.opened
    engine.call('terrace_write', storeBatch(engine, operations))
  }

  writeSync(operations: Operations): void {
    this.write(operations)
  }

  writeIf(conditions: readonly WasmCondition[], operations: Operations): void {
    const engine = this.opened
    const stored = storeConditional(engine, conditions, operations)
    assertHeld(engine, engine.call('terrace_write_if', ...stored), conditions.length)
  }

  writeIfSync(conditions: readonly WasmCondition[], operations: Operations): void {
    this.writeIf(conditions, operations)
  }

  rangeSize(start: Bytes, end: Bytes): number {
    const engine = this.opened
    return engine.call('terrace_range_size', ...storeTwo(engine, start, end)) >>> 0
  }

  stats(): MemoryStats {
    const engine = this.opened
    return {
      entries: engine.call('terrace_entries') >>> 0,
      sizeBytes: engine.call('terrace_size') >>> 0
    }
  }
}
