// Messages of every kind, drawn from the table of messages: as they should be, and as no peer would send them.

import { packFrame } from '../../dist/protocol/frame.js'
import { events, notices, requests, signsOfLife, Tell, told } from '../../dist/protocol/messages.js'
import { contentsCodes } from '../../dist/protocol/parts.js'

const text = (name) => Buffer.from(name)

/** A key that the requests of all connections share, or any other. */
function key(random) {
  const known = ['a', 'b', 'key', '!honest!key', '!honest!', '!other!x', '']
  return random.below(3) === 0 ? random.bytes(random.below(6)) : text(random.pick(known))
}

const bound = (random) => (random.below(2) === 0 ? null : key(random))
const range = (random) => [bound(random), bound(random), bound(random), bound(random)]
const flag = (random) => random.below(2) === 0
const listOf = (random, make) => Array.from({ length: random.below(6) }, () => make(random))
const operations = (random) =>
  listOf(random, (each) => [key(each), flag(each) ? random.bytes(random.below(20)) : null]).flat()
const conditions = (random) =>
  listOf(random, (each) =>
    each.pick([
      [1, key(each), null],
      [2, key(each), null],
      [3, key(each), key(each)],
      [4, range(each), byType.handle(each)],
      [5, key(each), byType.number(each)],
      [6, range(each), byType.number(each)]
    ])
  ).flat()
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

/** How parts are drawn, by the name of their type. */
const byType = {
  number: (random) => random.below(random.pick([3, 50])),
  // Few, so that requests meet what others have opened.
  handle: (random) => 1 + random.below(2),
  boolean: flag,
  string: (random) => random.pick(['', 'text', 'NET_MISSED']),
  bytes: key,
  array: (random) => [anyPart(random, 2)],
  map: () => ({}),
  anything: (random) => anyPart(random, 2),
  nil: () => null,
  operations,
  conditions,
  intervals: (random) => listOf(random, (each) => [key(each), bound(each)]).flat(),
  range,
  entry: (random) => [key(random), byType.number(random)],
  contents: (random) => random.pick(Object.values(contentsCodes)),
  page
}

/** Parts of which too few would make sense if they were drawn by their type alone, by their name. */
const byName = {
  'high-water mark': (random) => random.pick([0, 1, 16_384, 2 ** 40]),
  method: (random) => random.pick(['echo', 'echo', 'fail', 'toString', '__proto__', 'nothing']),
  feed: (random) => random.pick([null, null, 'changes', 'nothing', '__proto__']),
  event: (random) => random.below(5)
}

/** A valid part of a type. */
export function partOf(random, type) {
  if (type.orNil !== undefined) return random.below(3) === 0 ? null : partOf(random, type.orNil)
  if (type.each !== undefined) return listOf(random, () => partOf(random, type.each))
  return byType[type.name](random)
}

/** Valid parts of a message. */
export function partsOf(random, parts) {
  return parts.map(([name, type]) =>
    Object.hasOwn(byName, name) ? byName[name](random) : partOf(random, type)
  )
}

/** Those that need what another one has opened come more often. */
const requestForms = [
  ...Object.values(requests),
  ...[requests.cursor, requests.cursor, requests.read, requests.read, requests.seek]
]

/** What a client may send besides requests. The other notices end or begin a session. */
const otherForms = [notices.received, notices.credit, ...Object.values(signsOfLife)]

/** A message that a client may send once it is welcome. */
export function clientMessage(random, number) {
  if (random.below(8) === 0) {
    const { kind, parts } = random.pick(otherForms)
    return [kind, ...partsOf(random, parts)]
  }
  const { kind, parts } = random.pick(requestForms)
  return [kind, number, ...partsOf(random, parts)]
}

const resultTypes = new Map(Object.values(requests).map(({ kind, result }) => [kind, result]))

/** A server's answer to a request. */
export function answerTo(random, request) {
  const [kind, number, first] = request
  if (random.below(8) === 0)
    return [Tell.failure, number, random.pick(['LEVEL_IO_ERROR', 'NET_CLOSING', 'NET_DENIED', '']), 'no']
  const type = resultTypes.get(kind)
  // An array has an item for each key.
  const result = type.each ? Array.from(first, () => partOf(random, type.each)) : partOf(random, type)
  return [Tell.result, number, result]
}

/** What a server may send unasked. Events come more often. */
const toldForms = [
  told.event,
  told.event,
  told.event,
  told.ended,
  told.closing,
  ...Object.values(signsOfLife)
]

/** A message that a server may send once the client is welcome. */
export function serverMessage(random) {
  const form = random.pick(toldForms)
  const parts = partsOf(random, form.parts)
  if (form !== told.event) return [form.kind, ...parts]
  const event = random.pick(Object.values(events))
  return [form.kind, ...parts.slice(0, -1), event.kind, ...partsOf(random, event.parts)]
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
