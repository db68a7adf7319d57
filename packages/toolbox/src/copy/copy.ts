import { codedError } from '../errors.js'
import type { AnyLevel } from '../level-like.js'
import { batchSizeOf, type CopyOptions, type Summary, throwIfAborted } from './options.js'
import { scan } from './scan.js'
import { type RawEntry, Tally } from './tally.js'

const bytes = { keyEncoding: 'view', valueEncoding: 'view' } as const

/** Copies a range, and compares what the target then has with what was read. */
export async function copyEntries(
  from: AnyLevel,
  to: AnyLevel,
  options: CopyOptions<unknown>
): Promise<Summary> {
  const batchSize = batchSizeOf(options)
  const ofSource = new Tally(options)
  const ofTarget = new Tally({})
  throwIfAborted(options)

  for await (const part of scan(from, options.range ?? {}, batchSize)) {
    throwIfAborted(options)
    for (const entry of part) ofSource.add(entry)
    await writeEntries(to, part)

    if (options.verify !== false) {
      for (const entry of await readBack(to, part)) ofTarget.add(entry)
      compare(ofSource.summary, ofTarget.summary)
    }
    ofSource.report()
  }

  return ofSource.finish()
}

/** Writes entries in one batch. */
export function writeEntries(to: AnyLevel, entries: RawEntry[]): Promise<void> {
  return to.batch(
    entries.map(([key, value]) => ({ type: 'put', key, value })),
    bytes as object
  )
}

/** Reads what the target has for the keys of some entries. */
async function readBack(to: AnyLevel, entries: RawEntry[]): Promise<RawEntry[]> {
  const keys = entries.map(([key]) => key)
  const values: Array<Uint8Array | undefined> = await to.getMany(keys, bytes as object)
  const found: RawEntry[] = []

  for (const [index, value] of values.entries()) {
    if (value !== undefined) found.push([keys[index] as Uint8Array, value])
  }
  return found
}

function compare(source: Summary, target: Summary): void {
  if (source.entries === target.entries && source.checksum === target.checksum) return
  throw codedError(
    'COPY_MISMATCH',
    `The target does not have what was written: ${describe(target)} instead of ${describe(source)}`
  )
}

function describe({ entries, checksum }: Summary): string {
  return `${entries} entries (checksum ${checksum.toString(16)})`
}
