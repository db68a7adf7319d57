import { Buffer } from '../buffer.js'
import { codedError, type ToolboxError } from '../errors.js'
import type { ByteSource } from './byte-source.js'
import { checksumOf } from './checksum.js'
import {
  BLOCK_HEAD_BYTES,
  BLOCK_TAG,
  CHECKSUM_BYTES,
  HEADER_BYTES,
  isSealed,
  MAGIC,
  TRAILER_BYTES,
  TRAILER_TAG,
  VERSION
} from './format.js'
import type { Summary } from './options.js'
import { LENGTHS_BYTES, type RawEntry } from './tally.js'

/** A part of a dump: the entries of a block, or the contents of the trailer. */
export type DumpPart = { entries: RawEntry[] } | { trailer: Summary }

/** Reads a dump, and trusts nothing that its checksums do not confirm. */
export class DumpDecoder {
  readonly #source: ByteSource
  readonly #maxBlockSizeBytes: number

  constructor(source: ByteSource, maxBlockSizeBytes: number) {
    this.#source = source
    this.#maxBlockSizeBytes = maxBlockSizeBytes
  }

  /** Reads the header. Call it first. */
  async header(): Promise<void> {
    const header = await this.#source.take(HEADER_BYTES)
    const start = header.subarray(0, MAGIC.length)
    if (!MAGIC.subarray(0, start.length).equals(start))
      throw this.#error('DUMP_NOT_A_DUMP', 'The source is not a dump')
    if (header.length < HEADER_BYTES) throw this.#truncated()
    if (!isSealed(header)) throw this.#damaged('header')

    const version = header.readUInt32LE(MAGIC.length)
    if (version !== VERSION) {
      throw this.#error(
        'DUMP_VERSION',
        `The dump has version ${version}: only version ${VERSION} can be read`
      )
    }
  }

  /** Reads the next block, or the trailer, after which nothing may follow. */
  async next(): Promise<DumpPart> {
    const tag = await this.#source.take(1)
    if (tag.length === 0) throw this.#truncated()
    if (tag[0] === BLOCK_TAG) return { entries: await this.#block(tag) }
    if (tag[0] === TRAILER_TAG) return { trailer: await this.#trailer(tag) }
    throw this.#damaged('tag')
  }

  async #block(tag: Buffer): Promise<RawEntry[]> {
    const head = Buffer.concat([tag, await this.#all(BLOCK_HEAD_BYTES - tag.length)])
    if (!isSealed(head)) throw this.#damaged('head of a block')

    const size = head.readUInt32LE(1)
    if (size > this.#maxBlockSizeBytes) {
      throw this.#error('DUMP_TOO_LARGE', `A block of ${size} bytes is larger than 'maxBlockSizeBytes'`)
    }

    const payload = await this.#all(size)
    const checksum = await this.#all(CHECKSUM_BYTES)
    if (checksumOf(payload) !== checksum.readUInt32LE()) throw this.#damaged('block')
    return this.#entries(payload, head.readUInt32LE(5))
  }

  #entries(payload: Buffer, count: number): RawEntry[] {
    const entries: RawEntry[] = []
    let position = 0

    while (position < payload.length) {
      if (payload.length - position < LENGTHS_BYTES) throw this.#damaged('entry')
      const keyStart = position + LENGTHS_BYTES
      const valueStart = keyStart + payload.readUInt32LE(position)
      const end = valueStart + payload.readUInt32LE(position + 4)
      if (end > payload.length) throw this.#damaged('entry')

      entries.push([payload.subarray(keyStart, valueStart), payload.subarray(valueStart, end)])
      position = end
    }

    if (entries.length !== count) throw this.#damaged('number of entries')
    return entries
  }

  async #trailer(tag: Buffer): Promise<Summary> {
    const trailer = Buffer.concat([tag, await this.#all(TRAILER_BYTES - tag.length)])
    if (!isSealed(trailer)) throw this.#damaged('trailer')
    if ((await this.#source.take(1)).length > 0) throw this.#damaged('end: more bytes follow it')

    return {
      entries: Number(trailer.readBigUInt64LE(1)),
      bytes: Number(trailer.readBigUInt64LE(9)),
      checksum: trailer.readUInt32LE(17)
    }
  }

  /**
   * Takes exactly `size` bytes.
   *
   * @throws DUMP_TRUNCATED if there are fewer bytes.
   */
  async #all(size: number): Promise<Buffer> {
    const bytes = await this.#source.take(size)
    if (bytes.length < size) throw this.#truncated()
    return bytes
  }

  #truncated(): Error {
    return this.#error('DUMP_TRUNCATED', 'The dump is cut off')
  }

  #damaged(what: string): Error {
    return this.#error('DUMP_DAMAGED', `The dump is damaged: ${what}`)
  }

  /** Makes an error with the offset up to which the dump has been read. */
  #error(code: string, message: string): ToolboxError & { offset: number } {
    const { offset } = this.#source
    return Object.assign(codedError(code, `${message}, before byte ${offset}`), { offset })
  }
}
