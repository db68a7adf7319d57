// The TypeScript declarations of the addon must agree with the addon.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { Flag } from '../dist/binding.js'
import { binding } from '../dist/load-binding.js'
import { openLevel } from './support/databases.js'

function source(path) {
  return readFileSync(new URL(path, import.meta.url), 'utf8')
}

test('the addon has the functions that binding.ts and memory-binding.ts type', () => {
  const typed = ['binding', 'memory-binding'].flatMap((file) => {
    const [, body] = /export interface \w*Binding\b.*? \{\n(.*?)\n\}/s.exec(source(`../src/${file}.ts`))
    return [...body.matchAll(/^ {2}(\w+)\(/gm)].map(([, name]) => name)
  })

  assert.ok(typed.length > 25)
  assert.deepEqual(Object.keys(binding).sort(), typed.sort())
})

test('flags have the same bits on both sides', () => {
  const constants = source('../../../crates/node/src/options.rs').matchAll(/pub const (\w+): u32 = (\d+);/g)

  const native = Object.fromEntries(
    [...constants].map(([, name, bit]) => [
      name.toLowerCase().replace(/_(\w)/g, (_, letter) => letter.toUpperCase()),
      Number(bit)
    ])
  )

  assert.deepEqual(native, { ...Flag })
  assert.equal(new Set(Object.values(Flag)).size, Object.keys(Flag).length)
})

test('the addon refuses what it cannot use', () => {
  assert.throws(() => binding.get({}, 'key', 0), TypeError)
  assert.throws(() => binding.get(undefined, 'key', 0), TypeError)
  assert.throws(() => binding.iteratorRead({}, 1, 1), TypeError)
})

test('an object of one kind is not taken for another', async (t) => {
  const db = await openLevel(t)
  const { native } = db.snapshot()

  assert.throws(() => binding.get(native, 'key', 0), TypeError)
  assert.throws(() => binding.batchWrite(native, 0), TypeError)
  assert.throws(() => binding.iteratorClose(native), TypeError)
})

test('keys and values must be strings or bytes', async (t) => {
  const db = await openLevel(t)

  for (const wrong of [1, true, null, undefined, {}, [], Symbol('key')]) {
    assert.throws(() => db._put(wrong, 'value', {}), TypeError)
    assert.throws(() => db._put('key', wrong, {}), TypeError)
    assert.throws(() => db._get(wrong, {}), TypeError)
  }

  assert.deepEqual(await db.keys().all(), [])
})
