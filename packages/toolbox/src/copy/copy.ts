import { codedError } from '../errors.js'
import type { AnyLevel } from '../level-like.js'
import { BatchWriter } from './batch-writer.js'
import { Comparison } from './compare.js'
import { addMarker, hasEntries, isMarker, isUnfinished, removeMarker } from './marker.js'
import { mergePart } from './merge.js'
import {
  batchLimitsOf,
  type CopyOptions,
  type CopySummary,
  type Existing,
  existingOf,
  type PartLimits,
  type Summary,
  throwIfAborted
} from './options.js'
import { CopyReporter } from './reporter.js'
import { scan } from './scan.js'
import { Tally } from './tally.js'

/** One call of `copy()`. */
interface Work {
  readonly from: AnyLevel
  readonly to: AnyLevel
  readonly options: CopyOptions<unknown>
  readonly limits: PartLimits
  readonly reporter: CopyReporter
}

/** Copies a range, and compares the target's contents with what was read. */
export async function copyEntries(
  from: AnyLevel,
  to: AnyLevel,
  options: CopyOptions<unknown>
): Promise<CopySummary> {
  const limits = batchLimitsOf(options)
  const existing = existingOf(options)
  throwIfAborted(options)
  await assertFinished(from)

  const work: Work = { from, to, options, limits, reporter: new CopyReporter(from, options) }
  if (existing === 'merge') return mergeAll(work)
  const { isResumed, isEmpty } = await begin(from, to, existing)
  throwIfAborted(options)

  const writer = new BatchWriter(to, limits)
  try {
    const tally = isEmpty ? await writeAll(work, writer) : await writeDifferences(work, writer)
    if (options.verify !== false) await verify(work, tally)
    await removeMarker(to)
    return { ...tally.summary, written: writer.written, deleted: writer.deleted, resumed: isResumed }
  } finally {
    await writer.settle()
  }
}

async function assertFinished(from: AnyLevel): Promise<void> {
  if (!(await isUnfinished(from))) return
  throw codedError('COPY_UNFINISHED', 'The source is itself a copy that was not finished: finish that first')
}

/** Determines what the target contains, and marks it as unfinished. */
async function begin(
  from: AnyLevel,
  to: AnyLevel,
  existing: Exclude<Existing, 'merge'>
): Promise<{ isResumed: boolean; isEmpty: boolean }> {
  const isResumed = await isUnfinished(to)
  const isEmpty = !(await hasEntries(to))
  if (existing === 'refuse' && !isResumed && !isEmpty) {
    throw codedError(
      'COPY_TARGET_NOT_EMPTY',
      "The target has entries: existing: 'merge' keeps those with other keys, existing: 'overwrite' deletes them"
    )
  }

  if (!isResumed) await addMarker(to)
  // Comparing objects or addresses would not catch every way in which two databases can be the same.
  if (await isUnfinished(from)) {
    await removeMarker(to)
    throw codedError('COPY_SAME_DATABASE', 'The source and the target are the same database')
  }
  return { isResumed, isEmpty }
}

/** Writes all entries into an empty target. */
async function writeAll(work: Work, writer: BatchWriter): Promise<Tally> {
  const tally = new Tally({})
  for await (const part of scan(work.from, work.options.range ?? {}, work.limits)) {
    throwIfAborted(work.options)
    for (const entry of part) {
      tally.add(entry)
      writer.put(entry)
    }
    await writer.pass()
    await work.reporter.copied(tally)
  }

  await writer.finish()
  work.reporter.finish('copying', tally)
  return tally
}

/** Makes a target that has entries contain exactly those of the source. */
async function writeDifferences(work: Work, writer: BatchWriter): Promise<Tally> {
  const tally = new Tally({})
  const comparison = new Comparison(work.to, writer)
  for await (const part of scan(work.from, work.options.range ?? {}, work.limits)) {
    throwIfAborted(work.options)
    for (const entry of part) tally.add(entry)
    await comparison.compare(part)
    await work.reporter.copied(tally)
  }

  await comparison.finish()
  await writer.finish()
  work.reporter.finish('copying', tally)
  return tally
}

/** Adds the entries to those of the target. This needs no marker: merging again completes the work. */
async function mergeAll({ from, to, options, limits, reporter }: Work): Promise<CopySummary> {
  if (await isUnfinished(to)) {
    throw codedError(
      'COPY_UNFINISHED',
      'The target is a copy that was not finished, whose entries the next copy would delete: finish that first'
    )
  }

  const tally = new Tally({})
  let written = 0
  for await (const part of scan(from, options.range ?? {}, limits)) {
    throwIfAborted(options)
    for (const entry of part) tally.add(entry)
    written += await mergePart(to, part, options.verify !== false)
    await reporter.copied(tally)
  }

  reporter.finish('copying', tally)
  return { ...tally.summary, written, deleted: 0, resumed: false }
}

/** Reads back all entries of the target, and compares them with those read from the source. */
async function verify({ to, options, limits, reporter }: Work, ofSource: Tally): Promise<void> {
  const ofTarget = new Tally({})
  const { summary } = ofSource
  for await (const part of scan(to, {}, limits)) {
    throwIfAborted(options)
    for (const entry of part) if (!isMarker(entry[0])) ofTarget.add(entry)
    reporter.verified(ofTarget, summary.bytes)
  }

  if (ofSource.isAscending !== ofTarget.isAscending) {
    throw codedError(
      'COPY_KEY_ORDER',
      "The target orders its keys differently, so it cannot be compared as a whole: set existing: 'merge', which compares entry by " +
        'entry'
    )
  }
  compare(summary, ofTarget.summary)
  reporter.finish('verifying', ofTarget)
}

function compare(source: Summary, target: Summary): void {
  if (source.entries === target.entries && source.checksum === target.checksum) return
  throw codedError(
    'COPY_MISMATCH',
    `The target differs from the source: it has ${describe(target)} instead of ${describe(source)}`
  )
}

function describe({ entries, checksum }: Summary): string {
  return `${entries} entries (checksum ${checksum.toString(16)})`
}
