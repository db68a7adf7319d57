// Moving from classic-level to Terrace, making a backup file, and what happens with a backup that was cut off.

import { createReadStream, createWriteStream, mkdtempSync, rmSync, statSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ClassicLevel } from 'classic-level'
import { Level } from 'terrace'
import { copy, dump, restore, verifyDump } from 'terrace-toolbox/copy'

const directory = mkdtempSync(join(tmpdir(), 'terrace-example-'))
const old = new ClassicLevel(join(directory, 'old'))
const db = new Level(join(directory, 'new'))
const second = new Level(join(directory, 'second'))

try {
  for (let first = 0; first < 50_000; first += 1000) {
    await old.batch(
      Array.from({ length: 1000 }, (_, index) => ({
        type: 'put',
        key: `user ${first + index}`,
        value: 'x'.repeat(50)
      }))
    )
  }

  const copied = await copy(old, db, { onProgress: ({ entries }) => console.log('copied', entries) })
  console.log('checksum', copied.checksum.toString(16))

  const path = join(directory, 'backup')
  await dump(db, createWriteStream(path))
  console.log('the backup has', statSync(path).size, 'bytes')

  const restored = await restore(second, createReadStream(path))
  console.log('restored the same:', restored.checksum === copied.checksum)

  truncateSync(path, 1_000_000)
  await verifyDump(createReadStream(path)).catch((error) => console.log('a cut backup:', error.code))
} finally {
  for (const each of [old, db, second]) await each.close()
  rmSync(directory, { recursive: true })
}
