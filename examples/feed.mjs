// A copy of a database that its feed keeps up to date, also after a restart; a watched key; counts by group.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Level } from 'terrace'
import { count, feed, watch } from 'terrace-toolbox/feed'

const directory = mkdtempSync(join(tmpdir(), 'terrace-example-'))
const shop = new Level(join(directory, 'shop'), { valueEncoding: 'json' })
const replica = new Level(join(directory, 'replica'), { valueEncoding: 'json' })
const state = replica.sublevel('state', { valueEncoding: 'json' })

/** Applies changes batch by batch, each together with the number to resume from. */
async function replicate(changes, options) {
  let operations = []
  const after = (await state.get('sequence')) ?? 0
  for await (const { sequence, type, key, value, last } of changes.read({ ...options, after })) {
    operations.push({ type, key, value })
    if (!last) continue
    operations.push({ type: 'put', sublevel: state, key: 'sequence', value: sequence })
    await replica.batch(operations)
    console.log('replicated', operations.length - 1, 'change(s) up to', sequence)
    operations = []
  }
}

try {
  const changes = feed(shop, { retention: { count: 10_000 } })
  const kinds = count(shop, { name: 'kinds', of: (_key, { kind }) => kind })
  const prices = watch(changes, { key: 'apple' })

  await shop.batch([
    { type: 'put', key: 'apple', value: { kind: 'fruit', price: 1 } },
    { type: 'put', key: 'leek', value: { kind: 'vegetable', price: 2 } }
  ])
  await replicate(changes)
  console.log('apple costs', (await prices.next()).value.value.price)

  await shop.put('apple', { kind: 'fruit', price: 3 })
  await shop.put('pear', { kind: 'fruit', price: 4 })
  console.log('apple costs', (await prices.next()).value.value.price)

  await shop.close() // the feed stays attached
  await shop.open()
  await shop.del('leek')
  const replicating = replicate(changes, { live: true, limit: 4 })
  await shop.put('kale', { kind: 'vegetable', price: 5 })
  await replicating

  console.log('in the copy:', (await replica.keys({ gte: 'a' }).all()).join(', '))
  for await (const [kind, number] of kinds.entries()) console.log(kind, number)
} finally {
  await shop.close()
  await replica.close()
  rmSync(directory, { recursive: true })
}
