// Checked by the compiler, not run: what the declarations allow and what they refuse.

import type { Readable, Writable } from 'node:stream'
import { Level } from 'terrace'
import {
  type Entry,
  readable,
  readableKeys,
  webReadable,
  webReadableValues,
  webWritable,
  writable
} from 'terrace-toolbox/streams'

export function streams(): void {
  const db = new Level<string, number>('directory', { valueEncoding: 'json' })
  const entries: Readable = readable(db, { gt: 'a', reverse: true, highWaterMark: 5 })
  const keys: Readable = readableKeys(db)
  const writing: Writable = writable(db, { batchSize: 5 })
  const webEntries: ReadableStream<Entry<string, number>> = webReadable(db)
  const webValues: ReadableStream<number> = webReadableValues(db, { limit: 5 })
  void [entries, keys, writing, webEntries, webValues]

  const writer = webWritable(db).getWriter()
  void writer.write({ key: 'a', value: 5 })
  void writer.write(['a', 5])
  void writer.write({ type: 'del', key: 'a' })

  // @ts-expect-error a value is a number
  void writer.write({ key: 'a', value: 'b' })
  // @ts-expect-error an option of another type
  readable(db, { highWaterMark: '5' })
}
