/** A sublevel of a view, with the encodings of the database, which may refuse what others store. */

import { type AbstractChainedBatch, AbstractSublevel } from 'abstract-level'
import type { Encoding } from '../encoded.js'
import { keyEncodingOf, valueEncodingOf } from '../hooks.js'
import type { AnyLevel } from '../level-like.js'
import { namingBatch, writeNamed } from './named-values.js'

interface SublevelOptions {
  keyEncoding?: unknown
  valueEncoding?: unknown
}

export class TtlSublevel extends AbstractSublevel<never, never, unknown, unknown> {
  readonly #source: AnyLevel
  readonly #keyEncoding: Encoding
  readonly #valueEncoding: Encoding

  /** @param source - The database below the view. */
  constructor(parent: unknown, source: AnyLevel, name: string, options: SublevelOptions) {
    const keyEncoding = keyEncodingOf(source, options.keyEncoding ?? 'utf8')
    const valueEncoding = valueEncodingOf(source, options.valueEncoding ?? 'utf8')
    super(parent as never, name, { ...options, keyEncoding, valueEncoding } as never)
    this.#source = source
    this.#keyEncoding = keyEncoding
    this.#valueEncoding = valueEncoding
  }

  override keyEncoding(encoding?: unknown): never {
    return keyEncodingOf(this.#source, encoding ?? this.#keyEncoding) as never
  }

  override valueEncoding(encoding?: unknown): never {
    return valueEncodingOf(this.#source, encoding ?? this.#valueEncoding) as never
  }

  override put(key: unknown, value: unknown, options?: object): Promise<void> {
    return writeNamed(this, [{ key, value }], options, () => super.put(key, value, options as never))
  }

  override batch(...args: unknown[]): never {
    if (args.length === 0) return super.batch() as never
    const [operations, options] = args as [never, object | undefined]
    return writeNamed(this, operations, options, () => super.batch(operations, options as never)) as never
  }

  /** @internal */
  _chainedBatch(): AbstractChainedBatch<never, never, never> {
    return namingBatch(this, (AbstractSublevel.prototype as unknown as TtlSublevel)._chainedBatch.call(this))
  }

  /** @internal */
  _sublevel(name: string, options: SublevelOptions): TtlSublevel {
    return new TtlSublevel(this, this.#source, name, options)
  }
}
