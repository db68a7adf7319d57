import { Buffer } from '../buffer.js'
import { codedError } from '../errors.js'
import type { AnyLevel } from '../level-like.js'
import { pipeToNode } from '../platform.js'
import { encodeBlock, encodeHeader, encodeTrailer } from './format.js'
import { type DumpOptions, type PartLimits, type Summary, throwIfAborted } from './options.js'
import { scan } from './scan.js'
import { Tally } from './tally.js'

/** The destination of a dump: a Node stream or a web stream. The dump ends the stream. */
export type DumpDestination = NodeJS.WritableStream | WritableStream<Uint8Array>

/** What a block may hold. */
const BLOCK: PartLimits = { entries: 10_000, bytes: 2 ** 20 }

/** Yields the bytes of a dump in pieces, and returns what was dumped. */
export async function* dumpPieces(
  db: AnyLevel,
  options: DumpOptions<unknown>
): AsyncGenerator<Uint8Array, Summary, void> {
  const tally = new Tally(options)
  throwIfAborted(options)
  yield encodeHeader()

  for await (const part of scan(db, options.range ?? {}, BLOCK)) {
    throwIfAborted(options)
    for (const entry of part) tally.add(entry)
    yield Buffer.concat(encodeBlock(part))
    tally.report()
  }

  yield encodeTrailer(tally.summary)
  return tally.finish()
}

/** Writes a dump to a stream and ends it. */
export async function dumpTo(
  db: AnyLevel,
  destination: DumpDestination,
  options: DumpOptions<unknown>
): Promise<Summary> {
  let summary: Summary | undefined
  const pieces = (async function* () {
    summary = yield* dumpPieces(db, options)
  })()
  const { signal } = options

  try {
    if (destination instanceof WritableStream) {
      await webStreamOf(pieces).pipeTo(destination, signal === undefined ? {} : { signal })
    } else {
      await pipeToNode(pieces, destination, signal)
    }
  } catch (error) {
    throwIfAborted(options)
    throw error
  }

  if (summary === undefined) throw codedError('DUMP_TRUNCATED', 'The destination ended before the dump')
  return summary
}

function webStreamOf(pieces: AsyncGenerator<Uint8Array, void, void>): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await pieces.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    async cancel() {
      await pieces.return()
    }
  })
}
