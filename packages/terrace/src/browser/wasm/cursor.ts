import type { BackendCursor, Bytes, CursorOptions, CursorParts, Page, Range } from 'terrace-core'
import { SHORT_BYTES, Texts } from '../consecutive-texts.js'
import { textAt } from '../utf8.js'
import { storeOne, storeTwo } from './arguments.js'
import { type Engine, NO_BOUND } from './engine.js'
import { flagsOf, partsFlags } from './range-flags.js'
import type { WasmSnapshot } from './snapshot.js'

const LENGTH_BYTES = 4

/** The largest number of bytes that the engine takes. */
const MAX_BYTES = 0xffffffff

/** An iterator of the engine. */
export class WasmCursor implements BackendCursor {
  readonly #engine: Engine
  readonly #number: number
  /** Whether each part of an entry is wanted as text: the key, the value. */
  readonly #asText: readonly boolean[]

  constructor(
    engine: Engine,
    options: CursorOptions,
    parts: CursorParts,
    snapshot: WasmSnapshot | undefined
  ) {
    this.#engine = engine
    const [hasKeys, hasValues] = [parts !== 'values', parts !== 'keys']
    this.#asText = [
      ...(hasKeys ? [options.keyEncoding === 'utf8'] : []),
      ...(hasValues ? [options.valueEncoding === 'utf8'] : [])
    ]

    const state = snapshot?.number ?? 0
    this.#number = engine.call('terrace_iterator', state, ...storeRange(engine, options, partsFlags[parts]))
  }

  read(size: number, highWaterMarkBytes: number): Page {
    const engine = this.#engine
    const mark = Math.min(highWaterMarkBytes, MAX_BYTES)
    const hasEnded = engine.call('terrace_iterator_read', this.#number, size, mark) === 1
    const output = engine.output()
    const lengths = new DataView(output.buffer, output.byteOffset, output.byteLength)
    const count = lengths.getUint32(0, true)
    const start = LENGTH_BYTES * (1 + count)
    return this.#asText.every(Boolean)
      ? textPage(hasEnded, output, start, lengths, count)
      : mixedPage(hasEnded, output, start, lengths, count, this.#asText)
  }

  readSync(size: number, highWaterMarkBytes: number): Page {
    return this.read(size, highWaterMarkBytes)
  }

  seek(target: Bytes): void {
    this.#engine.call('terrace_iterator_seek', this.#number, storeOne(this.#engine, target))
  }

  close(): void {
    this.#engine.release('terrace_iterator_release', this.#number)
  }
}

/** Stores the bounds of a range. Returns its flags, with these besides, and the lengths of the bounds. */
export function storeRange(
  engine: Engine,
  range: Range & { readonly reverse: boolean },
  flags: number
): [flags: number, lowerLength: number, upperLength: number] {
  const { gte, gt, lte, lt } = range
  const lower = gte ?? gt
  const upper = lte ?? lt
  const [lowerLength, upperLength] = storeTwo(engine, lower, upper)
  return [
    flags | flagsOf(range, range.reverse),
    lower === undefined ? NO_BOUND : lowerLength,
    upper === undefined ? NO_BOUND : upperLength
  ]
}

/** A page whose parts are all text. */
function textPage(
  hasEnded: boolean,
  output: Uint8Array,
  start: number,
  lengths: DataView,
  count: number
): Page {
  const page: [boolean, undefined, ...Bytes[]] = [hasEnded, undefined]
  const texts = new Texts(output, (output.length - start) / count <= SHORT_BYTES)
  let at = start
  for (let part = 0; part < count; part++) {
    const end = at + lengths.getUint32(LENGTH_BYTES * (1 + part), true)
    page.push(texts.at(at, end))
    at = end
  }
  return page
}

/** A page some of whose parts are bytes. They are pieces of one buffer, and the bytes of text must not be among them. */
function mixedPage(
  hasEnded: boolean,
  output: Uint8Array,
  start: number,
  lengths: DataView,
  count: number,
  asText: readonly boolean[]
): Page {
  const pieces = output.slice(start)
  const page: [boolean, Uint8Array, ...Array<Bytes | number>] = [hasEnded, pieces]
  let at = start
  let piecesEnd = 0
  for (let part = 0; part < count; part++) {
    const length = lengths.getUint32(LENGTH_BYTES * (1 + part), true)
    if (asText[part % asText.length] === true) {
      page.push(textAt(output, at, at + length))
    } else {
      page.push(length)
      pieces.set(output.subarray(at, at + length), piecesEnd)
      piecesEnd += length
    }
    at += length
  }
  return page
}
