// What UPGRADING.md says of events and chained batches in level 8, and here.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { root } from '../../support/projects.mjs'

const require = createRequire(import.meta.url)
const { Level: Level8 } = require('level-8')
const { Level: Level10 } = require('level')
const { Level } = createRequire(join(root, 'package.json'))('terrace')

const EVENTS = ['ready', 'open', 'put', 'del', 'batch', 'write']

/** What happens in a database whose program makes a chained batch at once, and then writes in each way. */
async function heardFrom(t, Database) {
  const directory = mkdtempSync(join(tmpdir(), 'terrace-level-8-'))
  t.after(() => rmSync(directory, { recursive: true }))
  const db = new Database(join(directory, 'db'))
  const heard = []
  for (const event of EVENTS) db.on(event, () => heard.push(event))
  const chained = await (async () => db.batch().put('a', '1').write())().then(
    () => 'works',
    ({ code }) => code
  )
  await db.open()
  heard.length = chained === 'works' ? heard.indexOf('batch') : heard.length
  await db.put('b', '2')
  await db.del('b')
  await db.batch([{ type: 'put', key: 'c', value: '3' }])
  await db.close()
  return { chained, heard: heard.join(' ') }
}

test('level 8 tells of ready, put, del and batch, and makes a chained batch before it is open', async (t) => {
  assert.deepEqual(await heardFrom(t, Level8), { chained: 'works', heard: 'open ready put del batch' })
})

for (const [name, Database] of Object.entries({ 'level 10': Level10, Terrace: Level })) {
  test(`${name} tells of open and write alone, warns, and makes a chained batch once it is open`, async (t) => {
    const warn = t.mock.method(console, 'warn', () => {})
    assert.deepEqual(await heardFrom(t, Database), {
      chained: 'LEVEL_DATABASE_NOT_OPEN',
      heard: 'open write write write'
    })
    assert.deepEqual(
      warn.mock.calls.map((call) => call.arguments[0].code),
      ['LEVEL_LEGACY', 'LEVEL_LEGACY', 'LEVEL_LEGACY']
    )
  })
}
