// Writes pass together, and removals alone, in the order of their calls.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Gate } from '../../dist/ttl/gate.js'

/** A gate, and what is inside it. Each visitor stays until it is released. */
function watched() {
  const gate = new Gate()
  const inside = new Set()
  const leave = new Map()
  const visit = (kind, name) =>
    gate[kind](async () => {
      inside.add(name)
      await new Promise((resolve) => leave.set(name, resolve))
      inside.delete(name)
      return name
    })
  const letGo = async (name) => {
    leave.get(name)()
    for (let wait = 0; wait < 10; wait++) await null
  }
  return { gate, visit, letGo, now: () => [...inside].sort() }
}

test('writes go in together and at once, a removal once they have left', async () => {
  const { visit, letGo, now } = watched()
  visit('together', 'a')
  visit('together', 'b')
  assert.deepEqual(now(), ['a', 'b'])
  visit('alone', 'removal')
  visit('together', 'c')
  assert.deepEqual(now(), ['a', 'b'], 'who comes after a removal waits behind it')
  await letGo('a')
  assert.deepEqual(now(), ['b'])
  await letGo('b')
  assert.deepEqual(now(), ['removal'])
  await letGo('removal')
  assert.deepEqual(now(), ['c'])
})

test('two removals go in one after the other', async () => {
  const { visit, letGo, now } = watched()
  const done = [visit('alone', 'a'), visit('alone', 'b')]
  assert.deepEqual(now(), ['a'])
  await letGo('a')
  assert.deepEqual(now(), ['b'])
  await letGo('b')
  assert.deepEqual(await Promise.all(done), ['a', 'b'])
})

test('one that fails lets the next in', async () => {
  const { gate } = watched()
  await assert.rejects(
    gate.alone(async () => {
      throw new Error('failed')
    }),
    /failed/
  )
  assert.equal(await gate.alone(async () => 'next'), 'next')
})
