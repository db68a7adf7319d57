/** The files of the directory: the functions that `crates/wasm/src/host_files.rs` imports, over files that the user has chosen. */

/** Bytes that are read at once: a read of a file costs far more than its bytes. */
const PIECE_BYTES = 256 * 1024

/** Pieces that are kept: 32 MiB. */
const MOST_PIECES = 128

/** What an imported function returns if it has failed. */
const REFUSED = -1

export class GivenFiles {
  #files
  #reader = new FileReaderSync()
  /** Pieces by handle and number, the least recently used first. */
  #pieces = new Map()
  /** Why the browser refused the last read that failed. */
  #failure

  /** @param {File[]} files */
  constructor(files) {
    this.#files = files
  }

  /** Takes why the browser refused a read, if it did since the last time. */
  takeFailure() {
    const failure = this.#failure
    this.#failure = undefined
    return failure
  }

  /** The imported functions. Those that write refuse. */
  imports(engine) {
    const refuse = () => REFUSED
    return {
      file_count: () => this.#files.length,
      file_count_may_grow: () => 0,
      file_read: (handle, at, start, length) => {
        try {
          return this.#read(handle, at, engine.memory.subarray(start >>> 0, (start >>> 0) + (length >>> 0)))
        } catch (error) {
          this.#failure = error
          return REFUSED
        }
      },
      file_write: refuse,
      file_truncate: refuse,
      file_flush: refuse,
      file_size: (handle) => this.#files[handle].size,
      now: () => performance.now(),
      date: () => Date.now()
    }
  }

  #read(handle, at, buffer) {
    let filled = 0
    while (filled < buffer.length) {
      const number = Math.floor((at + filled) / PIECE_BYTES)
      const rest = this.#piece(handle, number).subarray(at + filled - number * PIECE_BYTES)
      if (rest.length === 0) break
      const part = rest.subarray(0, buffer.length - filled)
      buffer.set(part, filled)
      filled += part.length
    }
    return filled
  }

  #piece(handle, number) {
    const name = `${handle}/${number}`
    const start = number * PIECE_BYTES
    const blob = () => this.#files[handle].slice(start, start + PIECE_BYTES)
    const piece = this.#pieces.get(name) ?? new Uint8Array(this.#reader.readAsArrayBuffer(blob()))
    this.#pieces.delete(name)
    this.#pieces.set(name, piece)
    if (this.#pieces.size > MOST_PIECES) this.#pieces.delete(this.#pieces.keys().next().value)
    return piece
  }
}
