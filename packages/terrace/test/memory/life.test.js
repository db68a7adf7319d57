// What MemoryLevel takes from the system: no files, memory that it releases again, and little of it per instance.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { MemoryLevel } from 'terrace'
import { scaled } from '../../../../tests/support/form.mjs'
import { HANG_MS, until } from '../../../../tests/support/waiting.mjs'

const MIB = 1 << 20

test('no file or directory is opened or made', {
  skip: process.platform !== 'linux' && 'Linux has /proc'
}, (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'terrace-memory-'))
  t.after(() => rmSync(directory, { recursive: true }))
  chmodSync(directory, 0o500)
  const program = `
    const { readdirSync, readlinkSync } = require('node:fs')
    const { MemoryLevel } = require(${JSON.stringify(pathOf('terrace'))})
    const files = () => readdirSync('/proc/self/fd').flatMap((fd) => {
      try { return [readlinkSync('/proc/self/fd/' + fd)] } catch { return [] }
    }).filter((name) => name.startsWith('/') && !name.startsWith('/dev/') && !name.startsWith('/proc/')).sort().join()
    const threads = () => readdirSync('/proc/self/task').length
    const before = [files(), threads()].join()
    const run = async () => {
      const db = new MemoryLevel()
      for (let i = 0; i < 50000; i++) await db.put('key ' + i, 'x'.repeat(1000))
      for await (const key of db.keys()) if (key.endsWith('7')) db.delSync(key)
      const during = [files(), threads()].join()
      await db.close()
      console.log(before === during ? 'same' : before + ' -> ' + during)
    }
    run()`
  const { stdout, stderr, status } = spawnSync(process.execPath, ['-e', program], {
    cwd: directory,
    encoding: 'utf8',
    timeout: HANG_MS
  })
  assert.equal(stderr, '')
  assert.equal(stdout, 'same\n')
  assert.equal(status, 0)
  assert.deepEqual(readdirSync(directory), [])
})

function pathOf(name) {
  return fileURLToPath(import.meta.resolve(name)).replace(/\.mjs$/, '.js')
}

test('overwriting and deleting give memory back', async () => {
  const db = new MemoryLevel({ valueEncoding: 'buffer' })
  await db.open()
  const round = (byte, size) => {
    for (let i = 0; i < 20_000; i++) db.putSync(`key ${i}`, Buffer.alloc(size, byte))
  }
  const [overwritten, deleted] = [scaled(30, 9), scaled(20, 6)]
  round(0, 1000)
  const before = process.memoryUsage().rss
  for (let i = 1; i <= overwritten; i++) round(i, 1000 - i)
  for (let i = 0; i < deleted; i++) {
    await db.clear({ gt: 'key 1' })
    round(i, 900)
  }
  const grown = process.memoryUsage().rss - before
  // 20 MB were written in each round.
  assert.ok(grown < 150 * MIB, `${grown} bytes`)
})

test('thousands of instances, none of them closed, are separate and are collected', async () => {
  const made = []
  // In a separate function, whose variables are gone when it has ended.
  const turn = async () => {
    const databases = await Promise.all(
      Array.from({ length: 2000 }, async (_, i) => {
        const db = new MemoryLevel()
        await db.put('key', String(i))
        return db
      })
    )
    made.push(...databases.map((db) => new WeakRef(db)))
    const values = await Promise.all(databases.map((db) => db.get('key')))
    assert.deepEqual(
      values,
      Array.from({ length: 2000 }, (_, i) => String(i))
    )
  }
  for (let i = 0; i < scaled(10, 2); i++) await turn()
  await until(() => {
    global.gc()
    return made.filter((db) => db.deref() !== undefined).length < made.length / 100
  })
})

test('each thread has databases of its own, and may end without closing them', async () => {
  const worker = `
    const { parentPort, workerData } = require('node:worker_threads')
    const { MemoryLevel } = require(workerData.terrace)
    const run = async () => {
      const db = new MemoryLevel()
      for (let i = 0; i < 3000; i++) await db.put('key ' + i, workerData.name + i)
      const open = db.iterator()
      await open.next()
      const snapshot = db.snapshot()
      await db.clear()
      let right = 0
      for await (const [key, value] of db.iterator({ snapshot })) {
        if (value === workerData.name + key.slice(4)) right++
      }
      parentPort.postMessage(right)
    }
    run()`
  const count = scaled(12, 5)
  const threads = Array.from({ length: count }, (_, i) => {
    const thread = new Worker(worker, {
      eval: true,
      workerData: { terrace: pathOf('terrace'), name: `thread ${i} ` }
    })
    return new Promise((resolve, reject) => {
      let right
      thread.once('message', (message) => {
        right = message
      })
      thread.once('error', reject)
      thread.once('exit', () => resolve(right))
    })
  })
  assert.deepEqual(await Promise.all(threads), Array(count).fill(3000))
})
