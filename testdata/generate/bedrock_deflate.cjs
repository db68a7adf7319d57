// Writes testdata/bedrock-deflate with npm leveldb-zlib 1.2.0, the fork of LevelDB that Minecraft Bedrock uses.
//
// leveldb-zlib is no dependency of ours: it wants a compiler on most machines. In an empty directory on Linux:
//
//   npm install --ignore-scripts leveldb-zlib@1.2.0
//   NODE_PATH=node_modules node .../testdata/generate/bedrock_deflate.cjs

const { cpSync, mkdtempSync, rmSync } = require('node:fs')
const os = require('node:os')
const path = require('node:path')

// The package holds a binary for Linux 5 only, which runs on newer ones too.
os.release = () => '5.0'
const { LevelDB } = require('leveldb-zlib')

async function main() {
  const { fill } = await import('./contents.mjs')
  const target = path.join(__dirname, '../bedrock-deflate')
  const temporary = mkdtempSync(path.join(os.tmpdir(), 'terrace-'))
  const db = new LevelDB(temporary, { createIfMissing: true, writeBufferSize: 64 << 10 })
  await db.open()
  await fill(
    (key, value) => (key.length > 0 ? db.put(key, value) : undefined), // it refuses the empty key
    (key) => db.delete(key),
    () => db.compactRange(Buffer.from([0]), Buffer.from([0xff]))
  )
  rmSync(target, { recursive: true, force: true })
  cpSync(temporary, target, {
    recursive: true,
    filter: (source) => !/^LOG(\.old)?$/.test(path.basename(source))
  })
  await db.close()
  rmSync(temporary, { recursive: true })
}

main()
