// Pieces of one buffer: of the class of the buffer, and never beyond its end.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PackedBuffer } from 'terrace-core'

test('pieces of a buffer are buffers, and those of an array are arrays', () => {
  for (const bytes of [Buffer.from('abcdef'), Uint8Array.from(Buffer.from('abcdef'))]) {
    const packed = new PackedBuffer(bytes)
    const pieces = [packed.take(1), packed.take(0), packed.take(3)]
    assert.deepEqual(
      pieces.map((piece) => Buffer.from(piece).toString()),
      ['a', '', 'bcd']
    )
    for (const piece of pieces) {
      assert.equal(Object.getPrototypeOf(piece), Object.getPrototypeOf(bytes))
      assert.equal(piece.buffer, bytes.buffer)
    }
  }
})

test('a length that is wrong shows nothing beyond the buffer', () => {
  const memory = Buffer.from('before, wanted, after')
  for (const bytes of [memory.subarray(8, 14), new Uint8Array(memory.buffer, memory.byteOffset + 8, 6)]) {
    const packed = new PackedBuffer(bytes)
    assert.equal(Buffer.from(packed.take(4)).toString(), 'want')
    assert.equal(Buffer.from(packed.take(4)).toString(), 'ed')
    assert.equal(packed.take(4).length, 0)
    assert.equal(new PackedBuffer(bytes).take(Number.NaN).length, 0)
  }
})

test('without a buffer, every piece is empty', () => {
  const packed = new PackedBuffer(undefined)
  assert.deepEqual(packed.take(0), Buffer.alloc(0))
})
