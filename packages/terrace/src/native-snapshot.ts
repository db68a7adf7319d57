import type { BackendSnapshot } from 'terrace-core'
import type { NativeSnapshot as Native, NativeDatabase } from './binding.js'
import { binding } from './load-binding.js'

/** A snapshot of the engine. */
export class NativeSnapshot implements BackendSnapshot {
  readonly native: Native

  constructor(database: NativeDatabase) {
    this.native = binding.snapshot(database)
  }

  close(): void {
    binding.snapshotClose(this.native)
  }
}
