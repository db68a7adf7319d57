import type { Maintained } from '../../browser-backend.js'
import type { TransferProgress } from '../../transfer-options.js'
import type { Answer } from '../channel/calls.js'

const encoder = new TextEncoder()

/** An export for a tab, file by file. It begins with the first one. */
export class HostedExport {
  readonly #begin: Maintained['export']
  #files: AsyncGenerator<File, void, void> | undefined
  #progress: TransferProgress = { files: 0, bytes: 0, totalBytes: 0 }

  constructor(begin: Maintained['export']) {
    this.#begin = begin
  }

  async next(): Promise<Answer> {
    this.#files ??= this.#begin({
      onProgress: (progress) => {
        this.#progress = progress
      }
    })
    const { value: file } = await this.#files.next()
    if (!file) return { words: [], parts: [] }
    const name = encoder.encode(file.name)
    const { files, bytes, totalBytes } = this.#progress
    return {
      words: [name.byteLength, files + 1, bytes, totalBytes ?? bytes],
      parts: [name, new Uint8Array(await file.arrayBuffer())]
    }
  }

  async close(): Promise<void> {
    await this.#files?.return()
  }
}
