import assert from 'node:assert/strict'
import test from 'node:test'
import { scaled } from '../../../../tests/support/form.mjs'
import { bytes, HeldBackend, HeldConnection, Store, text } from '../support/other-side.js'
import { randomOf } from '../support/random.js'

const LENGTH = 4
/** Every second number, so that a seek may be to a key that is missing. */
const KEYS = Array.from({ length: 500 }, (_, i) => String(2 * i).padStart(LENGTH, '0'))
const PAGE_BYTES = 64
const PAGE = PAGE_BYTES / LENGTH

const count = scaled(500)
const first = Number(process.env.TERRACE_SEED ?? Date.now() % 1_000_000_000)

/** A cursor over {@link KEYS}, whose connection delivers each message soon. */
function openCursor(isReverse) {
  const store = new Store()
  for (const key of KEYS) store.entries.set(key, '')
  const connection = new HeldConnection(store)
  connection.onSend = () => queueMicrotask(() => deliver(connection))
  const cursor = new HeldBackend(connection).cursor({ reverse: isReverse }, 'keys')
  return { connection, cursor }
}

function deliver(connection) {
  while (connection.step());
}

const inOrder = (isReverse) => (isReverse ? KEYS.toReversed() : KEYS)
const from = (target, keys, isReverse) => keys.filter((key) => (isReverse ? key <= target : key >= target))

/** Reads `size` keys, or fewer at the end of a page. */
async function read(cursor, size = PAGE) {
  const [isEnd, view] = await cursor.read(size, PAGE_BYTES)
  return { isEnd, keys: text(view).match(/.{4}/g) ?? [] }
}

for (const isReverse of [false, true]) {
  const direction = isReverse ? 'backwards' : 'forwards'

  test(`a seek leaves out the page that was asked for in advance, ${direction}`, async () => {
    for (const target of ['0100', '0500', '0999']) {
      const { connection, cursor } = openCursor(isReverse)
      let taken = 0
      while (connection.pages <= taken) {
        await read(cursor)
        taken++
      }
      cursor.seek(bytes(target))
      assert.deepEqual((await read(cursor)).keys, from(target, inOrder(isReverse), isReverse).slice(0, PAGE))
    }
  })

  test(`reads, seeks and losses of the other side in random order, ${direction}`, async () => {
    let seeks = 0
    let losses = 0
    for (let seed = first; seed < first + count; seed++) {
      const random = randomOf(seed)
      const { connection, cursor } = openCursor(isReverse)
      let expected = inOrder(isReverse)
      for (let step = 0; step < 40; step++) {
        const dice = random()
        if (dice < 0.1) {
          const target = String(Math.floor(random() * 2 * KEYS.length)).padStart(LENGTH, '0')
          cursor.seek(bytes(target))
          expected = from(target, inOrder(isReverse), isReverse)
          seeks++
        } else if (dice < 0.2) {
          connection.kill()
          losses++
        } else {
          const { keys, isEnd } = await read(cursor, 1 + Math.floor(random() * 2 * PAGE))
          assert.deepEqual(keys, expected.slice(0, keys.length), `TERRACE_SEED=${seed}, step ${step}`)
          assert.ok(keys.length > 0 || expected.length === 0)
          expected = expected.slice(keys.length)
          assert.equal(isEnd && expected.length > 0, false)
          if (isEnd) break
        }
      }
    }
    assert.ok(seeks > 0 && losses > 0)
  })
}
