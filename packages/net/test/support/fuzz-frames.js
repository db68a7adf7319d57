// Frames that no peer would send, and what the reader of frames makes of them.

import assert from 'node:assert/strict'
import { FrameReader, packFrame } from '../../dist/protocol/frame.js'
import { PART_BYTES } from '../../dist/protocol/limits.js'
import { Ask, Both } from '../../dist/protocol/messages.js'
import { anyPart, clientMessage, mutatedBytes, mutatedFrame } from './fuzz-messages.js'
import { seed } from './random.js'

export const MAX_MESSAGE_BYTES = 128 * 1024
const MAX_ITEMS = 3000

const kinds = [...Object.values(Ask), ...Object.values(Both), 0, 64, 97, 200, -1, 2 ** 40]

/** Feeds hostile streams of bytes to the reader of frames. Returns how many messages and errors came of them. */
export function fuzzReader(random, count) {
  const outcomes = { messages: 0, errors: 0 }
  for (let round = 0; round < count; round++) {
    const reader = new FrameReader(MAX_MESSAGE_BYTES, MAX_ITEMS)
    const stream = Buffer.concat(Array.from({ length: 1 + random.below(4) }, () => hostileFrame(random)))
    try {
      for (let at = 0; at < stream.length; ) {
        const length = 1 + random.below(random.below(3) === 0 ? 10 : stream.length)
        reader.push(Buffer.from(stream.subarray(at, at + length)))
        at += length
        while (reader.next() !== undefined) outcomes.messages++
      }
    } catch (error) {
      assert.equal(error.code, 'NET_PROTOCOL', `seed ${seed}, round ${round}: ${error.stack}`)
      outcomes.errors++
    }
  }
  return outcomes
}

/** A frame, or what looks like one. */
export function hostileFrame(random) {
  switch (random.below(11)) {
    case 0:
      return random.bytes(1 + random.below(40))
    case 1:
      return lying(random, packFrame(request(random)))
    case 2:
      return part(random)
    case 3:
      return whole(nested(random))
    case 4:
      return whole(Buffer.concat([Buffer.from([0x93, 1, 1]), hugeHeader(random)]))
    case 5:
      return whole(
        Buffer.concat([Buffer.from([0x94, random.pick(kinds) & 0x7f, 5]), random.bytes(random.below(30))])
      )
    case 6:
      return mutatedBytes(random, packFrame(request(random)))
    case 7:
      return mutatedFrame(random, clientMessage(random, random.below(200)))
    case 8:
      return packFrame(clientMessage(random, random.below(200)))
    default:
      return Buffer.from(packFrame(request(random)))
  }
}

/** A request with parts that may be of the wrong kind. Numbers are few, so that they collide. */
function request(random) {
  const parts = Array.from({ length: random.below(6) }, () => anyPart(random, 3))
  const number = random.below(8) === 0 ? anyPart(random, 1) : random.below(200)
  return [random.pick(kinds), number, ...parts]
}

/** A frame whose length is wrong. */
function lying(random, frame) {
  const copy = Buffer.from(frame)
  copy.writeUInt32LE(random.pick([0, 1, copy.length, copy.length + 3, MAX_MESSAGE_BYTES, 2 ** 32 - 1]))
  return copy
}

/** A part of one of few messages, which may never end. */
function part(random) {
  const isLarge = random.below(4) === 0
  const bytes = isLarge ? Buffer.alloc(PART_BYTES, 0xc0) : random.bytes(random.below(20))
  const number = Buffer.alloc(4)
  number.writeUInt32LE(random.below(3))
  return framed(1 + random.below(3), Buffer.concat([number, bytes]))
}

/** Lists or maps in one another. */
function nested(random) {
  const depth = random.pick([10, 100, 10_000, 100_000])
  return Buffer.alloc(depth, random.pick([0x91, 0x9f, 0x81, 0xdc]))
}

/** A list, map, string, bytes or extension of a length that cannot be. */
function hugeHeader(random) {
  const header = Buffer.alloc(5, 0xff)
  header[0] = random.pick([0xdd, 0xdf, 0xdb, 0xc6, 0xc9, 0xdc, 0xde, 0xd4, 0xc7])
  header[1] = random.below(4)
  return Buffer.concat([header, random.bytes(random.below(20))])
}

function whole(payload) {
  return framed(0, payload)
}

function framed(kind, payload) {
  const frame = Buffer.alloc(5 + payload.length)
  frame.writeUInt32LE(1 + payload.length)
  frame[4] = kind
  payload.copy(frame, 5)
  return frame
}
