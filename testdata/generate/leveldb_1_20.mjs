// Writes testdata/leveldb-1.20-snappy with LevelDB 1.20, through npm classic-level.

import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { ClassicLevel } from 'classic-level'
import { fill } from './contents.mjs'

const target = fileURLToPath(new URL('../leveldb-1.20-snappy', import.meta.url))
const temporary = mkdtempSync(path.join(tmpdir(), 'terrace-'))

const db = new ClassicLevel(temporary, {
  keyEncoding: 'buffer',
  valueEncoding: 'buffer',
  writeBufferSize: 64 << 10
})
await fill(
  (key, value) => db.put(key, value),
  (key) => db.del(key),
  () => db.compactRange(Buffer.alloc(0), Buffer.from([0xff]))
)
// Copied while it is open: the deletions are only in the log, as after a crash.
rmSync(target, { recursive: true, force: true })
cpSync(temporary, target, {
  recursive: true,
  filter: (source) => !/^LOG(\.old)?$/.test(path.basename(source))
})
await db.close()
rmSync(temporary, { recursive: true })
