/**
 * A WebAssembly module: one instance with one database, in its memory or on open files. `crates/wasm-abi` documents how bytes and
 * failures are passed, `crates/wasm-memory` and `crates/wasm` the functions.
 */

import type { CodedError } from 'terrace-core'
import { codedError } from 'terrace-core'
import { codeOf, type LevelErrorCode } from '../../error-codes.js'
import { browserError } from '../errors.js'

/** What both modules export. */
interface CommonExports {
  readonly memory: WebAssembly.Memory
  terrace_input(sizeBytes: number): number
  terrace_output(): number
  terrace_output_length(): number
  terrace_get(snapshot: number, keyLength: number): number
  terrace_snapshot(): number
  terrace_snapshot_release(snapshot: number): number
  terrace_iterator(snapshot: number, flags: number, lowerLength: number, upperLength: number): number
  terrace_iterator_seek(iterator: number, targetLength: number): number
  terrace_iterator_read(iterator: number, entries: number, highWaterMarkBytes: number): number
  terrace_iterator_release(iterator: number): number
}

/** What `crates/wasm-memory` exports in addition. */
interface MapExports extends CommonExports {
  terrace_limit(limitBytes: number): number
  terrace_write(length: number): number
  terrace_write_if(conditionsLength: number, batchLength: number): number
  terrace_entries(): number
  terrace_size(): number
  terrace_range_size(startLength: number, endLength: number): number
}

/** What `crates/wasm` exports in addition. */
interface StoreExports extends CommonExports {
  terrace_open_wants_files(): number
  terrace_open(flags: number, writeBufferSizeBytes: number, blockCacheSizeBytes: number): number
  terrace_close(): number
  terrace_get_entry(snapshot: number, keyLength: number): number
  terrace_write(length: number, sync: number): number
  terrace_write_if(conditionsLength: number, batchLength: number, sync: number): number
  terrace_clear(
    snapshot: number,
    flags: number,
    lowerLength: number,
    upperLength: number,
    limit: number
  ): number
  terrace_clear_rest(number: number, mustEnd: number): number
  terrace_step(): number
  terrace_free_files(): number
  terrace_approximate_size(startLength: number, endLength: number): number
  terrace_compact_range(startLength: number, endLength: number): number
  terrace_compact_step(compaction: number): number
  terrace_export(): number
  terrace_export_read(copy: number, file: number, offset: number, length: number): number
  terrace_export_release(copy: number): number
  terrace_import(replaces: number): number
  terrace_import_free_files(): number
  terrace_import_file(nameLength: number): number
  terrace_import_write(length: number): number
  terrace_import_file_end(): number
  terrace_import_check(): number
  terrace_import_end(): number
  terrace_repair_wants_files(): number
  terrace_repair(): number
}

type Function = Exclude<
  keyof MapExports | keyof StoreExports,
  'memory' | 'terrace_input' | 'terrace_output' | 'terrace_output_length'
>

type ReleaseFunction = 'terrace_iterator_release' | 'terrace_snapshot_release' | 'terrace_export_release'

/** Functions that a module imports. */
export interface Imports {
  readonly [name: string]:
    | ((first: number, second: number, third: number, fourth: number) => number)
    | undefined
}

/** What a function returns if it has failed. */
const FAILED = -2

/** What `terrace_get` returns if there is no such key. */
export const NOT_FOUND = -1

/** The length of a missing bound. */
export const NO_BOUND = 0xffffffff

const decoder = new TextDecoder()

export class Engine {
  readonly #exports: CommonExports
  #memory: Uint8Array
  #inputStart = 0
  #inputSize = 0
  /** Why the instance can no longer be used. */
  #failure: CodedError<LevelErrorCode> | undefined

  /** @param imports - What the module imports in addition to the report of a panic. They may use {@link memory}. */
  constructor(module: WebAssembly.Module, imports: (engine: Engine) => Imports = () => ({})) {
    const panicked = (start: number, length: number) => this.#panicked(start, length)
    const terrace = { ...imports(this), panicked }
    this.#exports = instanceOf(module, { terrace }).exports as unknown as CommonExports
    this.#memory = new Uint8Array(this.#exports.memory.buffer)
  }

  /** All of the module's memory. It moves when the module allocates more. */
  get memory(): Uint8Array {
    if (this.#memory.length === 0) this.#memory = new Uint8Array(this.#exports.memory.buffer)
    return this.#memory
  }

  /** Where at least `sizeBytes` of arguments can be stored, as an index into {@link memory}. */
  room(sizeBytes: number): number {
    if (sizeBytes > this.#inputSize || this.#inputSize > MAX_KEPT_BYTES) {
      this.#inputSize = 0
      const start = this.#run(() => this.#exports.terrace_input(sizeBytes))
      if (start === 0) throw tooLarge(sizeBytes)
      this.#inputStart = start >>> 0
      this.#inputSize = sizeBytes
    }
    return this.#inputStart
  }

  /** Copies the arguments that are stored, for a later call. Making room for them again may have lost them. */
  takeOut(length: number): Uint8Array {
    return this.memory.slice(this.#inputStart, this.#inputStart + length)
  }

  /** Calls a function. */
  call(name: Function, ...values: number[]): number {
    const result = this.#run(() =>
      (this.#exports as unknown as Record<Function, (...values: number[]) => number>)[name](...values)
    )
    if (result === FAILED) throw this.#error()
    return result
  }

  /** Releases what the instance has under this number, if there is an instance that can be used. */
  release(name: ReleaseFunction, number: number): void {
    if (this.#failure === undefined) this.call(name, number)
  }

  /** Makes every call from now on fail with this error. */
  end(error: CodedError<LevelErrorCode>): void {
    this.#failure ??= error
  }

  /** The bytes of the last result, which the next call overwrites. */
  output(): Uint8Array {
    const start = this.#exports.terrace_output()
    return this.memory.subarray(start, start + this.#exports.terrace_output_length())
  }

  #run<T>(call: () => T): T {
    if (this.#failure !== undefined) throw this.#failure
    try {
      return call()
    } catch (error) {
      this.#failure ??= codedError('LEVEL_INTERNAL_ERROR', `The engine has failed: ${error}`)
      throw this.#failure
    }
  }

  #error(): CodedError<LevelErrorCode> {
    const text = decoder.decode(this.output())
    const end = text.indexOf('\n')
    return codedError(codeOf(text.slice(0, end)), text.slice(end + 1))
  }

  #panicked(start: number, length: number): void {
    const message = decoder.decode(this.memory.subarray(start, start + length))
    this.#failure = codedError('LEVEL_INTERNAL_ERROR', `The engine has failed: ${message}`)
  }
}

/** @throws LEVEL_IO_ERROR if the browser has no room for the memory of another instance. */
function instanceOf(module: WebAssembly.Module, imports: WebAssembly.Imports): WebAssembly.Instance {
  try {
    return new WebAssembly.Instance(module, imports)
  } catch (error) {
    throw browserError(
      'LEVEL_IO_ERROR',
      `The browser has no memory for another database: close one that is open, or use sublevels of one (${error})`,
      error
    )
  }
}

/** The module releases larger memory, so it is requested for each call. */
const MAX_KEPT_BYTES = 1 << 20

function tooLarge(sizeBytes: number): Error {
  return codedError<LevelErrorCode>(
    'LEVEL_INVALID_ARGUMENT',
    `A call with ${sizeBytes} bytes of keys and values is too large: in a browser, a value may have 256 MiB, a batch 512 MiB`
  )
}
