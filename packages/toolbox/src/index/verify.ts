/** Compares an index with the records, in both directions, in one state. */

import type { AbstractSnapshot } from 'abstract-level'
import { bytesOf, type Encoded } from '../encoded.js'
import { type Entry, entryOf } from './entry-keys.js'
import type { EntryWriter } from './entry-writer.js'
import type { IndexHook } from './index-hook.js'
import { snapshotOf } from './reader.js'
import { readKeys } from './records.js'

/** The number of records or entries held at a time. */
const PAGE_SIZE = 100

/** The result of `verify()`. If the index is consistent with the records, `missing`, `stale` and `wrong` are 0. */
export interface IndexReport {
  /** The number of records of the database. */
  records: number
  /** The number of entries of the index. */
  entries: number
  /** The number of entries that records should have, but do not. */
  missing: number
  /** The number of entries whose record is gone or has another value. */
  stale: number
  /**
   * The number of impossible cases: entries that cannot be read, records that the definition refuses, and values of a unique
   * index that more than one record has (one for each record after the first).
   */
  wrong: number
}

/** Compares an index with its records. */
export async function verify(hook: IndexHook, writer: EntryWriter): Promise<IndexReport> {
  const report = emptyReport()
  const snapshot = snapshotOf(hook)
  try {
    await verifyRecords(hook, writer, snapshot, report)
    await verifyEntries(hook, writer, snapshot, report)
  } finally {
    await snapshot?.close()
  }
  return report
}

/** Whether there is an entry that no record has: one of another declaration, or of an index that was being dropped. */
export async function hasStrayEntries(hook: IndexHook, writer: EntryWriter): Promise<boolean> {
  const report = emptyReport()
  const snapshot = snapshotOf(hook)
  try {
    await verifyEntries(hook, writer, snapshot, report, isStray)
  } finally {
    await snapshot?.close()
  }
  return isStray(report)
}

function emptyReport(): IndexReport {
  return { records: 0, entries: 0, missing: 0, stale: 0, wrong: 0 }
}

function isStray({ stale, wrong }: IndexReport): boolean {
  return stale + wrong > 0
}

/** Checks that all records have their entries. */
async function verifyRecords(
  hook: IndexHook,
  writer: EntryWriter,
  snapshot: AbstractSnapshot | undefined,
  report: IndexReport
): Promise<void> {
  let start: Uint8Array | undefined = new Uint8Array(0)
  while (start !== undefined) {
    const page = await readKeys(hook, start, { limit: PAGE_SIZE, snapshot })
    const values = await decodedValues(hook, page.keys, snapshot)
    for (const [index, key] of page.keys.entries()) {
      const value = values[index]
      // Without snapshots, it may have been deleted since.
      if (value === undefined) continue
      report.records++
      // An expired record may have lost its value to another one.
      if (!(await hook.isHiddenNow(key))) await verifyRecord(writer, key, value, snapshot, report)
    }
    start = page.next
  }
}

async function verifyRecord(
  writer: EntryWriter,
  key: Uint8Array,
  { decoded }: Decoded,
  snapshot: AbstractSnapshot | undefined,
  report: IndexReport
): Promise<void> {
  let expected: Uint8Array[] = []
  try {
    if (decoded !== undefined) expected = writer.entriesOf(decoded, key)
  } catch {
    report.wrong++
  }
  const options = { keyEncoding: 'buffer', valueEncoding: 'buffer', snapshot }
  for (let i = 0; i < expected.length; i += PAGE_SIZE) {
    const found = (await writer.entries.getMany(expected.slice(i, i + PAGE_SIZE), options)) as Array<
      Uint8Array | undefined
    >
    for (const stored of found) {
      if (stored === undefined) report.missing++
      else if (writer.definition.unique && !bytesOf(stored).equals(bytesOf(key))) report.wrong++
    }
  }
}

/** Checks that all entries have their records. It ends when the report says that this is enough. */
async function verifyEntries(
  hook: IndexHook,
  writer: EntryWriter,
  snapshot: AbstractSnapshot | undefined,
  report: IndexReport,
  isEnough: (report: IndexReport) => boolean = () => false
): Promise<void> {
  const iterator = writer.entries.iterator({ keyEncoding: 'buffer', valueEncoding: 'buffer', snapshot })
  try {
    while (true) {
      const page = (await iterator.nextv(PAGE_SIZE)) as Array<[Uint8Array, Uint8Array]>
      if (page.length === 0 || isEnough(report)) return
      report.entries += page.length
      const entries: Entry[] = []
      for (const [key, stored] of page) {
        try {
          entries.push(entryOf(writer.definition.unique, key, stored))
        } catch {
          report.wrong++
        }
      }
      const primaries = entries.map(({ primary }) => primary)
      const values = await decodedValues(hook, primaries, snapshot)
      for (const [index, { bytes, primary }] of entries.entries()) {
        if (!writer.has(values[index]?.decoded, primary, bytes)) report.stale++
      }
    }
  } finally {
    await iterator.close()
  }
}

/** A value that exists. `decoded` is undefined if the encoding of the database cannot read it. */
interface Decoded {
  readonly decoded: unknown
}

async function decodedValues(
  hook: IndexHook,
  keys: Uint8Array[],
  snapshot: AbstractSnapshot | undefined
): Promise<Array<Decoded | undefined>> {
  const valueEncoding = hook.valueEncoding.format
  const stored = (await hook.space.db.getMany(keys, {
    keyEncoding: 'buffer',
    valueEncoding,
    snapshot
  })) as Array<Encoded | undefined>
  return stored.map((value) => (value === undefined ? undefined : { decoded: hook.space.decodeValue(value) }))
}
