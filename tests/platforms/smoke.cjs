// Uses Level and MemoryLevel as a small program would: writes, reads, iterates, closes, opens again. Prints `ok` and what ran it.

const { mkdtempSync, rmSync } = require('node:fs')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const assert = require('node:assert/strict')
const { Level, MemoryLevel } = require('terrace')

async function use(db) {
  await db.put('a', { n: 1 }, { sync: true })
  await db.batch([
    { type: 'put', key: 'b', value: { n: 2 } },
    { type: 'put', key: 'c', value: { n: 3 } },
    { type: 'del', key: 'c' }
  ])
  assert.deepEqual(await db.get('a'), { n: 1 })
  assert.equal(await db.get('c'), undefined)
  const entries = []
  for await (const [key, value] of db.iterator()) entries.push(`${key}=${value.n}`)
  assert.deepEqual(entries, ['a=1', 'b=2'])
}

async function main() {
  assert.equal((await import('terrace')).Level, Level)
  const location = mkdtempSync(join(tmpdir(), 'terrace-smoke-'))
  try {
    const db = new Level(location, { valueEncoding: 'json' })
    await use(db)
    await assert.rejects(new Level(location).open(), ({ cause }) => cause.code === 'LEVEL_LOCKED')
    await db.close()

    const again = new Level(location, { valueEncoding: 'json', createIfMissing: false })
    assert.deepEqual(await again.get('b'), { n: 2 })
    await again.close()

    const memory = new MemoryLevel({ valueEncoding: 'json' })
    await use(memory)
    await memory.close()
  } finally {
    rmSync(location, { recursive: true, force: true })
  }
  const { platform, arch, versions } = process
  console.log(`ok ${platform} ${arch} ${versions.bun ?? versions.deno ?? versions.node}`)
}

main().catch((error) => {
  console.error(error)
  process.exitCode = 1
})
