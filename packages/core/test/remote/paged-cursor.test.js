import assert from 'node:assert/strict'
import test from 'node:test'
import { PagedCursor } from 'terrace-core'
import { scaled } from '../../../../tests/support/form.mjs'
import { randomOf } from '../support/random.js'

const LENGTH = 4
/** Every second number, so that a seek may be to a key that is missing. */
const KEYS = Array.from({ length: 500 }, (_, i) => String(2 * i).padStart(LENGTH, '0'))
const PAGE_BYTES = 64
const PAGE = PAGE_BYTES / LENGTH

const count = scaled(500)
const first = Number(process.env.TERRACE_SEED ?? Date.now() % 1_000_000_000)

/** A cursor whose other side is in this process. It does what it is told in order, each in a later turn, and can be lost. */
class NearCursor extends PagedCursor {
  /** What was told to the side that is there now. Another one takes its place. */
  #done = Promise.resolve()
  #range = []
  #left = []
  #isReverse
  /** Counts the sides that were there: each is lost when it grows. */
  #sides = 0
  pages = 0

  constructor(isReverse) {
    super({ reverse: isReverse }, 'keys')
    this.#isReverse = isReverse
    this.begin()
  }

  textsOf = () => assert.fail('no text was asked for')

  openThere({ gt, lt }) {
    this.#sides++
    this.#range = inOrder(this.#isReverse).filter(
      (key) => (gt === undefined || key > text(gt)) && (lt === undefined || key < text(lt))
    )
    this.#left = this.#range
  }

  readThere(_page, size, highWaterMarkBytes) {
    return this.#later(() => {
      const taken = this.#left.slice(0, Math.min(size, highWaterMarkBytes / LENGTH))
      this.#left = this.#left.slice(taken.length)
      this.pages++
      const last = taken.length === 0 ? null : bytes(taken.at(-1))
      return {
        isLast: this.#left.length === 0,
        bytes: bytes(taken.join('')),
        lengths: taken.map(() => LENGTH),
        last
      }
    })
  }

  seekThere(target) {
    this.#later(() => {
      this.#left = from(text(target), this.#range, this.#isReverse)
    }).catch(() => {})
  }

  closeThere() {}

  mayGoOnAfter(error) {
    return error.code === 'LOST'
  }

  /** Loses the other side, with what was asked of it and not answered. */
  lose() {
    this.#done = Promise.resolve()
    this.#sides++
    this.forgotten()
  }

  #later(run) {
    const side = this.#sides
    const done = this.#done.then(() => {
      if (side !== this.#sides) throw Object.assign(new Error('the other side is lost'), { code: 'LOST' })
      return run()
    })
    this.#done = done.catch(() => {})
    return done
  }
}

const bytes = (string) => new TextEncoder().encode(string)
const text = (view) => new TextDecoder().decode(view)
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
      const cursor = new NearCursor(isReverse)
      let taken = 0
      while (cursor.pages <= taken) {
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
      const cursor = new NearCursor(isReverse)
      let expected = inOrder(isReverse)
      for (let step = 0; step < 40; step++) {
        const dice = random()
        if (dice < 0.1) {
          const target = String(Math.floor(random() * 2 * KEYS.length)).padStart(LENGTH, '0')
          cursor.seek(bytes(target))
          expected = from(target, inOrder(isReverse), isReverse)
          seeks++
        } else if (dice < 0.2) {
          cursor.lose()
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
