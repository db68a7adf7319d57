/** How a consumer's keys and values, and its range, relate to the bytes that travel. */

import type { Transcoder } from 'abstract-level'
import { codedError, type Encodings, type KeyOptions } from 'terrace-core'
import { concat, inFormat, toBytes } from '../protocol/bytes.js'
import { type WireRange, wireRange } from '../protocol/parts.js'

type AnyEncoding = Transcoder.Encoding<unknown, string | Uint8Array, unknown>

export class Decoding<K, V> {
  /** The range that the options name, as bytes of the server's keys. */
  readonly range: WireRange
  readonly #prefix: Uint8Array
  readonly #keys: AnyEncoding
  readonly #values: AnyEncoding

  /** @param prefix - What all keys begin with on the server. Consumers do not see it. */
  constructor(of: Encodings<K, V>, prefix: string, options: KeyOptions<K, V>) {
    this.#prefix = new TextEncoder().encode(prefix)
    this.#keys = of.keyEncoding(options.keyEncoding as 'buffer') as unknown as AnyEncoding
    this.#values = of.valueEncoding(options.valueEncoding as 'buffer') as unknown as AnyEncoding
    this.range = this.#rangeOf(options)
  }

  key(bytes: Uint8Array): K {
    return decoded(this.#keys, 'key', bytes.subarray(this.#prefix.length)) as K
  }

  value(bytes: Uint8Array): V {
    return decoded(this.#values, 'value', bytes) as V
  }

  /** The bytes of a key, without the prefix. */
  encodedKey(key: K): Uint8Array {
    return toBytes(this.#keys.encode(key))
  }

  /** What follows the prefix in the bound of an interval; undefined if the bound is beyond all keys. */
  localBound(bound: Uint8Array | null): Uint8Array | undefined {
    const { length } = this.#prefix
    if (bound === null || this.#prefix.some((byte, i) => byte !== bound[i])) return undefined
    return bound.subarray(length)
  }

  #rangeOf(options: KeyOptions<K, V>): WireRange {
    const bound = (key: K | undefined): Uint8Array | undefined =>
      key === undefined ? undefined : concat([this.#prefix, this.encodedKey(key)])
    const { gte, gt, lte, lt } = options
    const [own, end] = [{ gte: bound(gte), gt: bound(gt), lte: bound(lte), lt: bound(lt) }, this.#end()]
    if (own.gte === undefined && own.gt === undefined && end !== undefined) own.gte = this.#prefix
    if (own.lte === undefined && own.lt === undefined) own.lt = end
    return wireRange(own)
  }

  /** The first key after those with the prefix. Its last character is the separator, below those of names. */
  #end(): Uint8Array | undefined {
    if (this.#prefix.length === 0) return undefined
    const end = Uint8Array.from(this.#prefix)
    end[end.length - 1] = (end.at(-1) as number) + 1
    return end
  }
}

function decoded(encoding: AnyEncoding, what: string, bytes: Uint8Array): unknown {
  try {
    return encoding.decode(inFormat(bytes, encoding.format))
  } catch (cause) {
    throw Object.assign(codedError('LEVEL_DECODE_ERROR' as string, `Could not decode ${what}`), { cause })
  }
}
