// Keys and values are packed without an object for each: what arrives is what packFrame() would have sent.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FrameReader, packFrame } from '../dist/protocol/frame.js'
import { packBytes } from '../dist/protocol/pack-bytes.js'
import { Random, seed } from './support/random.js'

const MAX_BYTES = 2 ** 24
const MAX_ITEMS = 100_000

/** What arrives of a frame, its form checked as that of a hostile peer. */
function arrived(frame) {
  const reader = new FrameReader(MAX_BYTES, MAX_ITEMS)
  reader.push(frame)
  const message = reader.next()
  assert.equal(reader.next(), undefined)
  return message
}

const asBytes = (piece) =>
  typeof piece === 'string' ? Buffer.from(piece) : Array.isArray(piece) ? piece.map(asBytes) : piece

function check(message, why) {
  const wanted = arrived(packFrame(message.map(asBytes)))
  const got = arrived(packBytes(message))
  assert.deepEqual(got, wanted, why)
}

test('numbers, bytes and text of every length arrive as they were', () => {
  const lengths = [0, 1, 31, 32, 85, 86, 127, 128, 255, 256, 257, 65_535, 65_536, 70_000]
  for (const length of lengths) {
    check([1, 5, Buffer.alloc(length, 7), null], `bytes ${length}`)
    check([1, 5, new Uint8Array(length).fill(200), null], `view ${length}`)
    for (const character of ['a', 'é', '€', '😀', '\ud800']) check([3, 5, character.repeat(length), 7])
    if (length <= MAX_ITEMS / 2)
      check([5, 1, new Array(length).fill(Buffer.from('k')), true], `list ${length}`)
  }
  for (const number of [0, 127, 128, 255, 256, 65_535, 65_536, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 53 - 1]) {
    check([64, number, null], `number ${number}`)
    check([5, number, ['a', null, 'b', Buffer.from('c')], false], `number ${number}`)
  }
})

test('random writes arrive as they were', () => {
  const random = new Random()
  for (let round = 0; round < 300; round++) {
    const text = () =>
      String.fromCodePoint(...Array.from(random.bytes(random.below(120)), (byte) => byte * 300))
    const part = () => (random.below(2) === 0 ? random.bytes(random.below(300)) : text())
    const operations = Array.from({ length: 2 * random.below(40) }, (_, i) =>
      i % 2 === 1 && random.below(4) === 0 ? null : part()
    )
    check([5, random.below(2 ** 32), operations, random.below(2) === 0], `seed ${seed}, round ${round}`)
  }
})
