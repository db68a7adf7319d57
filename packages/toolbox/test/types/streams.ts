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
  // An encoding that gives another type than it takes.
  const dates = {
    encode: (date: Date | number) => String(Number(date)),
    decode: (text: string) => new Date(text)
  }
  const webDates: ReadableStream<Date> = webReadableValues(db, { gt: 'a', valueEncoding: dates })
  void [entries, keys, writing, webEntries, webValues, webDates]

  const writer = webWritable(db).getWriter()
  void writer.write({ key: 'a', value: 5 })
  void writer.write(['a', 5])
  void writer.write({ type: 'del', key: 'a' })

  // @ts-expect-error a value is a number
  void writer.write({ key: 'a', value: 'b' })
  // @ts-expect-error a key is a string
  webReadable(db, { gt: 5 })
  // @ts-expect-error an option of another type
  readable(db, { highWaterMark: '5' })
}
