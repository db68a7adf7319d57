/** A copy of a database that is made for an export. The engine keeps it until it is released. */

import type { Engine } from '../wasm/engine.js'
import { nextTurn } from './next-turn.js'

/** What is read at once. */
const PIECE_BYTES = 1 << 20

const decoder = new TextDecoder()

/** A file of a copy. */
export interface CopiedFile {
  readonly name: string
  readonly sizeBytes: number
}

export class CopiedFiles {
  readonly #engine: Engine
  readonly #number: number
  /** The files, in the order of their names. */
  readonly files: readonly CopiedFile[]

  constructor(engine: Engine) {
    this.#engine = engine
    this.#number = engine.call('terrace_export')
    const lines = decoder.decode(engine.output()).split('\n').slice(0, -1)
    this.files = lines.map((line) => {
      const space = line.indexOf(' ')
      return { name: line.slice(space + 1), sizeBytes: Number(line.slice(0, space)) }
    })
  }

  /** Yields the bytes of a file in pieces, and after each lets other work have its turn. */
  async *pieces(file: CopiedFile): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    const index = this.files.indexOf(file)
    for (let offset = 0; offset < file.sizeBytes; ) {
      this.#engine.call('terrace_export_read', this.#number, index, offset, PIECE_BYTES)
      const piece = this.#engine.output().slice() as Uint8Array<ArrayBuffer>
      offset += piece.length
      yield piece
      await nextTurn()
    }
  }

  /** Whether it is a copy of the database that this engine has open. */
  isOf(engine: Engine | undefined): boolean {
    return engine === this.#engine
  }

  release(): void {
    this.#engine.release('terrace_export_release', this.#number)
  }
}
