// Messages of every kind, as they should be, and as no peer would send them.

import { packFrame } from '../../dist/protocol/frame.js'
import { Ask, Both, EventCode, partsCodes, Tell } from '../../dist/protocol/messages.js'

const text = (name) => Buffer.from(name)

/** A key that the requests of all connections share, or any other. */
function key(random) {
  const known = ['a', 'b', 'key', '!honest!key', '!honest!', '!other!x', '']
  return random.below(3) === 0 ? random.bytes(random.below(6)) : text(random.pick(known))
}

const bound = (random) => (random.below(2) === 0 ? null : key(random))
const range = (random) => [bound(random), bound(random), bound(random), bound(random)]
const flag = (random) => random.below(2) === 0
/** Few, so that requests meet what others have opened. */
const handle = (random) => 1 + random.below(2)
const snapshot = (random) => (random.below(3) === 0 ? handle(random) : null)
const listOf = (random, make) => Array.from({ length: random.below(6) }, () => make(random))
const operations = (random) =>
  listOf(random, (each) => [key(each), flag(each) ? random.bytes(random.below(20)) : null]).flat()

/** The parts of a request after its number, by kind. */
const requestParts = {
  [Ask.get]: (random) => [key(random), snapshot(random)],
  [Ask.getMany]: (random) => [listOf(random, key), snapshot(random)],
  [Ask.has]: (random) => [key(random), snapshot(random)],
  [Ask.hasMany]: (random) => [listOf(random, key), snapshot(random)],
  [Ask.write]: (random) => [operations(random), flag(random)],
  [Ask.clear]: (random) => [
    range(random),
    flag(random),
    flag(random) ? null : random.below(4),
    snapshot(random)
  ],
  [Ask.snapshot]: (random) => [handle(random)],
  [Ask.closeSnapshot]: (random) => [handle(random)],
  [Ask.cursor]: (random) => [
    handle(random),
    range(random),
    flag(random),
    random.pick(Object.values(partsCodes)),
    snapshot(random)
  ],
  [Ask.read]: (random) => [
    handle(random),
    random.below(3),
    random.below(50),
    random.pick([0, 1, 16_384, 2 ** 40])
  ],
  [Ask.seek]: (random) => [handle(random), key(random)],
  [Ask.closeCursor]: (random) => [handle(random)],
  [Ask.call]: (random) => [
    random.pick(['echo', 'echo', 'fail', 'toString', '__proto__', 'nothing']),
    [anyPart(random, 2)]
  ],
  [Ask.subscribe]: (random) => [
    handle(random),
    random.pick([null, null, 'changes', 'nothing', '__proto__']),
    range(random),
    flag(random) ? null : random.below(5)
  ],
  [Ask.unsubscribe]: (random) => [handle(random)]
}

/** What a client may send besides requests. */
const otherParts = {
  [Ask.received]: (random) => [listOf(random, (each) => each.below(50)), random.below(50)],
  [Ask.credit]: (random) => [handle(random), random.below(10)],
  [Both.ping]: () => [],
  [Both.pong]: () => []
}

/** Those that need what another one has opened come more often. */
const requestKinds = [
  ...Object.keys(requestParts).map(Number),
  ...[Ask.cursor, Ask.cursor, Ask.read, Ask.read, Ask.seek]
]

/** A message that a client may send once it is welcome. */
export function clientMessage(random, number) {
  if (random.below(8) === 0) {
    const kind = Number(random.pick(Object.keys(otherParts)))
    return [kind, ...otherParts[kind](random)]
  }
  const kind = random.pick(requestKinds)
  return [kind, number, ...requestParts[kind](random)]
}

const page = (random) => {
  const bytes = random.bytes(random.below(20))
  return [flag(random), bytes.length === 0 ? null : bytes, ...splitting(random, bytes.length), bound(random)]
}

/** Lengths that add up to a length. */
function splitting(random, length) {
  const lengths = []
  for (let left = length; left > 0; left -= lengths.at(-1)) lengths.push(1 + random.below(left))
  return lengths
}

/** The result of a request that makes sense, by kind. */
const results = {
  [Ask.get]: bound,
  [Ask.getMany]: (random, [, , keys]) => Array.from(keys, () => bound(random)),
  [Ask.has]: flag,
  [Ask.hasMany]: (random, [, , keys]) => Array.from(keys, () => flag(random)),
  [Ask.read]: page,
  [Ask.call]: (random) => anyPart(random, 2)
}

/** A server's answer to a request. */
export function answerTo(random, request) {
  const [kind, number] = request
  if (random.below(8) === 0)
    return [Tell.failure, number, random.pick(['LEVEL_IO_ERROR', 'NET_CLOSING', 'NET_DENIED', '']), 'no']
  return [Tell.result, number, results[kind]?.(random, request) ?? null]
}

/** What a server may send unasked, once the client is welcome. */
export function serverMessage(random) {
  const event = (code, ...content) => [Tell.event, handle(random), 1 + random.below(4), code, ...content]
  const intervals = listOf(random, (each) => [key(each), bound(each)]).flat()
  return random.pick([
    () => event(EventCode.write, operations(random)),
    () => event(EventCode.clear, intervals, flag(random)),
    () =>
      event(
        EventCode.change,
        flag(random),
        random.below(9),
        key(random),
        bound(random),
        bound(random),
        1,
        1,
        true,
        true
      ),
    () => [Tell.ended, handle(random), random.below(3), 'NET_MISSED', 'so it is'],
    () => [Tell.closing],
    () => [Both.ping],
    () => [Both.pong]
  ])()
}

/** A frame of a message, in which something may be wrong: a part, or a few bytes. */
export function mutatedFrame(random, message) {
  if (random.below(3) === 0) return mutatedBytes(random, packFrame(message))
  const parts = [...message]
  const index = random.below(parts.length + 1)
  switch (random.below(4)) {
    case 0:
      parts.splice(index, 1)
      break
    case 1:
      parts.splice(index, 0, anyPart(random, 3))
      break
    default:
      parts[index] = deeply(random, parts[index])
  }
  return packFrame(parts)
}

/** Another value for a part, or for one within it. */
function deeply(random, part) {
  if (!Array.isArray(part) || part.length === 0 || random.below(2) === 0) return anyPart(random, 3)
  return part.with(random.below(part.length), anyPart(random, 2))
}

export function mutatedBytes(random, frame) {
  const copy = Buffer.from(frame)
  for (let flips = 1 + random.below(3); flips > 0; flips--)
    copy[random.below(copy.length)] = random.below(256)
  return random.below(3) === 0 ? copy.subarray(0, random.below(copy.length)) : copy
}

/** A part of any kind. */
export function anyPart(random, depth) {
  const few = () => Array.from({ length: random.below(5) }, () => anyPart(random, depth - 1))
  const parts = [
    () => random.below(6),
    () => random.pick([-1, 0.5, Number.NaN, 2 ** 53, 2 ** 31, 1e300]),
    () => null,
    () => flag(random),
    () => random.bytes(random.below(6)),
    () => random.pick(['', 'echo', '__proto__', 'constructor']),
    () => random.pick([[null, null, null, null], range(random)]),
    () => (depth > 0 ? few() : null),
    () => (depth > 0 ? { a: anyPart(random, depth - 1), __proto__: null } : {})
  ]
  return random.pick(parts)()
}
