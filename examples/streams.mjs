// A stream brings a file of lines into a database, and another one out of it.

import { createReadStream, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Level } from 'terrace'
import { readableKeys, webReadable, writable } from 'terrace-toolbox/streams'

const directory = mkdtempSync(join(tmpdir(), 'terrace-example-'))
const db = new Level(join(directory, 'db'), { valueEncoding: 'json' })

try {
  const path = join(directory, 'readings.csv')
  const lines = Array.from(
    { length: 10_000 },
    (_, index) => `2026-01-01T${String(index).padStart(5, '0')},${index % 40}`
  )
  writeFileSync(path, lines.join('\n'))

  async function* readings() {
    for await (const line of createInterface({ input: createReadStream(path) })) {
      const [time, celsius] = line.split(',')
      yield { key: time, value: Number(celsius) }
    }
  }
  await pipeline(Readable.from(readings()), writable(db))

  let count = 0
  for await (const _key of readableKeys(db)) count++
  console.log(count, 'readings are in the database')

  const hot = new TransformStream({
    transform({ key, value }, controller) {
      if (value === 39) controller.enqueue(key)
    }
  })
  let hottest = 0
  for await (const _key of webReadable(db, { lt: '2026-01-01T05' }).pipeThrough(hot)) hottest++
  console.log(hottest, 'of the first five thousand were of 39 degrees')
} finally {
  await db.close()
  rmSync(directory, { recursive: true })
}
