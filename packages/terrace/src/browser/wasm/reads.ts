/** What back-ends in WebAssembly have in common: reads. Each is answered within its call. */

import type { BackendReadOptions, Bytes, CursorOptions, CursorParts } from 'terrace-core'
import { textAt } from '../utf8.js'
import { storeOne } from './arguments.js'
import { WasmCursor } from './cursor.js'
import { type Engine, NOT_FOUND } from './engine.js'
import { WasmSnapshot } from './snapshot.js'

export abstract class WasmReads {
  /** The engine. The class over a back-end calls nothing that needs it before it is open. */
  protected abstract get opened(): Engine

  get(key: Bytes, options: BackendReadOptions, snapshot?: WasmSnapshot): Bytes | undefined {
    const engine = this.opened
    if (!find(engine, key, snapshot)) return undefined
    const output = engine.output()
    return options.valueEncoding === 'utf8' ? textAt(output, 0, output.length) : output.slice()
  }

  getSync(key: Bytes, options: BackendReadOptions, snapshot?: WasmSnapshot): Bytes | undefined {
    return this.get(key, options, snapshot)
  }

  getMany(keys: Bytes[], options: BackendReadOptions, snapshot?: WasmSnapshot): Array<Bytes | undefined> {
    return keys.map((key) => this.get(key, options, snapshot))
  }

  has(key: Bytes, _options: BackendReadOptions, snapshot?: WasmSnapshot): boolean {
    return find(this.opened, key, snapshot)
  }

  hasMany(keys: Bytes[], options: BackendReadOptions, snapshot?: WasmSnapshot): boolean[] {
    return keys.map((key) => this.has(key, options, snapshot))
  }

  cursor(options: CursorOptions, parts: CursorParts, snapshot?: WasmSnapshot): WasmCursor {
    return new WasmCursor(this.opened, options, parts, snapshot)
  }

  snapshot(): WasmSnapshot {
    return new WasmSnapshot(this.opened)
  }
}

function find(engine: Engine, key: Bytes, snapshot: WasmSnapshot | undefined): boolean {
  return engine.call('terrace_get', snapshot?.number ?? 0, storeOne(engine, key)) !== NOT_FOUND
}
