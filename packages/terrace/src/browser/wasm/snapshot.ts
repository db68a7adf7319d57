import type { BackendSnapshot } from 'terrace-core'
import type { Engine } from './engine.js'

/** A snapshot of the engine. */
export class WasmSnapshot implements BackendSnapshot {
  readonly #engine: Engine
  readonly number: number

  constructor(engine: Engine) {
    this.#engine = engine
    this.number = engine.call('terrace_snapshot')
  }

  /** Whether it is a snapshot of this engine's database. */
  isOf(engine: Engine): boolean {
    return engine === this.#engine
  }

  close(): void {
    this.#engine.release('terrace_snapshot_release', this.number)
  }
}
