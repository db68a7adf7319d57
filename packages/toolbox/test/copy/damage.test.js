// No damage to a dump goes unnoticed, and none makes the decoder spend memory or time on data that does not exist.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { crc32 } from 'node:zlib'
import { MemoryLevel } from 'memory-level'
import { dumpBytes, restore, verifyDump } from 'terrace-toolbox/copy'
import { databases } from '../support/databases.js'

const DAMAGES = ['DUMP_NOT_A_DUMP', 'DUMP_VERSION', 'DUMP_TRUNCATED', 'DUMP_DAMAGED', 'DUMP_TOO_LARGE']

async function dumpOf(db) {
  const pieces = []
  for await (const piece of dumpBytes(db)) pieces.push(piece)
  return pieces
}

/** A dump of three blocks, in its pieces: header, blocks, trailer. */
async function someDump() {
  const db = new MemoryLevel({ valueEncoding: 'view' })
  for (let index = 0; index < 6; index++) await db.put(`key ${index}`, new Uint8Array(400_000).fill(index))
  const pieces = await dumpOf(db)
  assert.equal(pieces.length, 5)
  return pieces
}

/** A small dump in one piece. */
async function smallDump() {
  const db = new MemoryLevel()
  for (let index = 0; index < 5; index++) await db.put(`key ${index}`, 'value'.repeat(index))
  return Buffer.concat(await dumpOf(db))
}

/** The head of a block, with a valid checksum. */
function head(size, count) {
  const bytes = Buffer.alloc(13)
  bytes.writeUInt8(1, 0)
  bytes.writeUInt32LE(size, 1)
  bytes.writeUInt32LE(count, 5)
  bytes.writeUInt32LE(crc32(bytes.subarray(0, 9)), 9)
  return bytes
}

/** A whole block around a payload. */
function block(payload, count) {
  const checksum = Buffer.alloc(4)
  checksum.writeUInt32LE(crc32(payload))
  return Buffer.concat([head(payload.length, count), payload, checksum])
}

test('a dump that is cut anywhere is truncated', async () => {
  const dump = await smallDump()
  for (let length = 0; length < dump.length; length++) {
    const cut = dump.subarray(0, length)
    await assert.rejects(
      verifyDump([cut]),
      ({ code, offset }) => code === 'DUMP_TRUNCATED' && offset === length
    )
    await assert.rejects(restore(new MemoryLevel(), [cut]), { code: 'DUMP_TRUNCATED' })
  }
})

test('a bit that changes anywhere is noticed', async () => {
  const dump = await smallDump()
  for (let bit = 0; bit < dump.length * 8; bit++) {
    const damaged = Buffer.from(dump)
    damaged[bit >> 3] ^= 1 << (bit & 7)
    await assert.rejects(verifyDump([damaged]), ({ code }) => DAMAGES.includes(code), `bit ${bit}`)
  }
})

test('bytes after the end are noticed', async () => {
  const dump = await smallDump()
  await assert.rejects(verifyDump([dump, Buffer.from([0])]), { code: 'DUMP_DAMAGED' })
  await assert.rejects(verifyDump([dump, dump]), { code: 'DUMP_DAMAGED' })
})

test('blocks that are missing, doubled or in another order are noticed', async () => {
  const [header, a, b, c, trailer] = await someDump()
  assert.equal((await verifyDump([header, a, b, c, trailer])).entries, 6)
  for (const blocks of [[a, b], [], [a, b, b, c], [b, a, c], [c, b, a]]) {
    await assert.rejects(verifyDump([header, ...blocks, trailer]), { code: 'DUMP_DAMAGED' })
  }
})

test('nothing of a damaged block is written, and all of the blocks before it', async (t) => {
  for (const open of Object.values(databases)) {
    const [header, a, b, c, trailer] = await someDump()
    const damaged = Buffer.from(b)
    damaged[1000] ^= 1
    const db = await open(t)
    await assert.rejects(restore(db, [header, a, damaged, c, trailer]), { code: 'DUMP_DAMAGED' })
    assert.deepEqual(await db.keys().all(), ['key 0', 'key 1'])
  }
})

test('other files are not dumps', async () => {
  for (const other of ['', 'T', 'TERRDUMP']) {
    await assert.rejects(verifyDump([Buffer.from(other)]), { code: 'DUMP_TRUNCATED' })
  }
  for (const other of ['{}', 'TERRDUMQ', 'x'.repeat(1000)]) {
    await assert.rejects(verifyDump([Buffer.from(other)]), { code: 'DUMP_NOT_A_DUMP' })
  }
})

test('a dump of a later version is refused', async () => {
  const dump = await smallDump()
  dump.writeUInt32LE(2, 8)
  dump.writeUInt32LE(crc32(dump.subarray(0, 12)), 12)
  await assert.rejects(verifyDump([dump]), { code: 'DUMP_VERSION' })
})

test('a length is not believed: no memory is taken for what did not arrive', async () => {
  const header = (await smallDump()).subarray(0, 16)
  await assert.rejects(verifyDump([header, head(2 ** 32 - 1, 1)]), { code: 'DUMP_TOO_LARGE' })
  const before = process.memoryUsage().arrayBuffers
  const huge = { maxBlockSizeBytes: 2 ** 32 - 1 }
  await assert.rejects(verifyDump([header, head(2 ** 32 - 1, 1), Buffer.alloc(50)], huge), {
    code: 'DUMP_TRUNCATED'
  })
  assert.ok(process.memoryUsage().arrayBuffers - before < 2 ** 24)
})

test('lengths within a block that lead out of it are noticed', async () => {
  const header = (await smallDump()).subarray(0, 16)
  const payload = (keyLength, valueLength, rest) => {
    const lengths = Buffer.alloc(8)
    lengths.writeUInt32LE(keyLength, 0)
    lengths.writeUInt32LE(valueLength, 4)
    return Buffer.concat([lengths, Buffer.from(rest)])
  }
  const bad = [
    block(payload(3, 3, 'abc'), 1),
    block(payload(2 ** 32 - 1, 2 ** 32 - 1, 'abc'), 1),
    block(payload(1, 1, 'abc'), 1),
    block(payload(1, 2, 'abc'), 2),
    block(payload(1, 2, 'abc'), 0),
    block(Buffer.alloc(7), 0)
  ]
  for (const each of bad) await assert.rejects(verifyDump([header, each]), { code: 'DUMP_DAMAGED' })
})

test('a dump in pieces of any size', async () => {
  const dump = await smallDump()
  for (const size of [1, 2, 3, 7, 16, 1000]) {
    const pieces = []
    for (let start = 0; start < dump.length; start += size) {
      pieces.push(dump.subarray(start, start + size), new Uint8Array(0))
    }
    assert.equal((await verifyDump(pieces)).entries, 5)
  }
})

test('random bytes after a header never pass, and never hang', async () => {
  const header = (await smallDump()).subarray(0, 16)
  let state = 5
  for (let round = 0; round < 500; round++) {
    const bytes = Buffer.alloc(round % 64)
    for (let index = 0; index < bytes.length; index++) {
      state = (Math.imul(state, 1103515245) + 12345) >>> 0
      bytes[index] = index === 0 ? 1 + (round % 2) : state >>> 24
    }
    await assert.rejects(verifyDump([header, bytes]), ({ code }) => DAMAGES.includes(code))
  }
})

test('anything that does not give bytes is not a source', async () => {
  const db = new MemoryLevel()
  const refused = { code: 'DUMP_INVALID_SOURCE' }
  for (const source of [null, undefined, 5, {}, ['text'], [5], 'text']) {
    await assert.rejects(restore(db, source), refused)
  }
})

test('a source is released when its dump is refused', async () => {
  let isLetGo = false
  async function* endless() {
    try {
      while (true) yield Buffer.alloc(100)
    } finally {
      isLetGo = true
    }
  }
  await assert.rejects(verifyDump(endless()), { code: 'DUMP_NOT_A_DUMP' })
  assert.ok(isLetGo)
})
