/** A LevelDB directory as a back-end of `terrace-core`, so that it is read by the API of abstract-level. Nothing is ever written to it. */

import { codedError } from 'terrace-core'
import { storeOne, storeTwo } from '../../../packages/terrace/dist/browser/wasm/arguments.js'
import { Engine } from '../../../packages/terrace/dist/browser/wasm/engine.js'
import { WasmReads } from '../../../packages/terrace/dist/browser/wasm/reads.js'
import { GivenFiles } from './given-files.js'

/** A flag of `terrace_open_directory`. */
const REPAIR = 1

const CACHE_BYTES = 32 << 20

const decoder = new TextDecoder()

export class DirectoryBackend extends WasmReads {
  manifest = { encodings: { utf8: true, view: true }, syncReads: true }
  #directory
  #files
  #engine
  /** The name of the order of keys. */
  order = ''
  /** What the repair did, as text; empty if there was none. */
  report = ''

  /** @param directory - `module`, the compiled WebAssembly; `name`, `files`, `repairs`, and `order` if the directory may not tell. */
  constructor(directory) {
    super()
    this.#directory = directory
    this.#files = new GivenFiles(directory.files)
  }

  get opened() {
    return this.#engine
  }

  open() {
    const { module, name, files, order, repairs } = this.#directory
    const engine = new Engine(module, (engine) => this.#files.imports(engine))
    files.forEach((file, handle) => {
      engine.call('terrace_give_file', storeOne(engine, `${name}/${file.name}`), handle, file.size)
    })
    engine.call('terrace_open_directory', repairs ? REPAIR : 0, CACHE_BYTES, ...storeTwo(engine, name, order))
    const output = decoder.decode(engine.output())
    const end = output.indexOf('\n')
    this.order = output.slice(0, end)
    this.report = output.slice(end + 1)
    this.#engine = engine
  }

  close() {
    this.#engine = undefined
  }

  write() {
    throw codedError('LEVEL_READ_ONLY', 'The viewer does not write')
  }

  /** Why the browser refused a read of a file, if it did since the last time. */
  takeFailure() {
    return this.#files.takeFailure()
  }
}
