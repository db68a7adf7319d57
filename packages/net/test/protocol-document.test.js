// Compares docs/net-protocol.md with the code: its examples, kinds of messages, numbers and codes.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { test } from 'node:test'

const require = createRequire(import.meta.url)
const { FrameReader, packFrame } = require('../dist/protocol/frame.js')
const numbers = require('../dist/protocol/limits.js')
const {
  Ask,
  Both,
  events,
  notices,
  requests,
  signsOfLife,
  Tell,
  told
} = require('../dist/protocol/messages.js')
const { defaultLimits } = require('../dist/server/options.js')

const guide = readFileSync(new URL('../../../docs/net-protocol.md', import.meta.url), 'utf8')
const errors = readFileSync(new URL('../src/protocol/errors.ts', import.meta.url), 'utf8')

const bytes = (text) => Buffer.from(text)
const welcome = { user: 'ada', manifest: { permanence: true }, maxMessageBytes: 64 << 20 }

/** The messages of the examples, by name. */
const messages = {
  ping: [126],
  parts: [13, 3, 'm', [Buffer.alloc(65_536, 7)]],
  hello: [32, 1, 'secret', null],
  welcome: [96, Buffer.alloc(16, 7), false, welcome],
  get: [1, 7, bytes('a'), null],
  result: [64, 7, bytes('1')],
  write: [5, 8, [bytes('a'), bytes('1'), bytes('b'), null], false],
  failure: [65, 8, 'NET_DENIED', 'not me'],
  'conditional-write': [
    16,
    9,
    [3, bytes('a'), bytes('1'), 4, [bytes('b'), null, null, null], 3],
    [bytes('a'), null],
    false
  ],
  conflict: [64, 9, [1]],
  cursor: [9, 10, 3, [bytes('a'), null, null, bytes('b')], false, 3, null],
  read: [10, 11, 3, 0, 100, 16_384],
  page: [64, 11, [true, bytes('a1'), 1, 1, bytes('a')]],
  received: [33, [8, 9], 6]
}

/** The examples by name: `07*16` means the byte 07 sixteen times, `#` begins a comment. */
const examples = new Map(
  [...guide.matchAll(/^```hex name=(\S+)\n(.*?)^```$/gms)].map(([, name, text]) => [name, bytesIn(text)])
)

function bytesIn(text) {
  const words = text.replace(/#.*$/gm, '').trim().split(/\s+/)
  return Buffer.concat(
    words.map((word) => {
      const [, hex, count = '1'] = /^([0-9a-f]{2})(?:\*(\d+))?$/.exec(word)
      return Buffer.alloc(Number(count), Number.parseInt(hex, 16))
    })
  )
}

/** The rows of the table below a heading or line: arrays of cells, without the head. */
function tableAfter(text) {
  const start = guide.indexOf(text)
  assert.ok(start >= 0, text)
  const [table] = /^\|.*?(?=\n\n)/ms.exec(guide.slice(start))
  return table
    .split('\n')
    .slice(2)
    .map((row) =>
      row
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim())
    )
}

const numberIn = (cell) => (cell === 'none' ? Number.POSITIVE_INFINITY : Number(cell.replaceAll(',', '')))

test('each example is named, and there is no other', () => {
  assert.deepEqual([...examples.keys()].sort(), Object.keys(messages).sort())
})

for (const [name, message] of Object.entries(messages)) {
  test(`the example '${name}' is what it says`, () => {
    const reader = new FrameReader(1 << 20)
    const example = examples.get(name)
    for (let i = 0; i < example.length; i += 7) reader.push(example.subarray(i, i + 7))
    assert.deepEqual(reader.next(), message)
    assert.equal(reader.next(), undefined)
    if (name !== 'parts')
      assert.equal(Buffer.from(packFrame(message)).toString('hex'), example.toString('hex'))
  })
}

test('each kind of message is listed with its number, and no other', () => {
  const listed = [...guide.matchAll(/^\| `(\w+)` (\d+) \|/gm)].map(([, name, kind]) => [name, Number(kind)])
  const order = ([, a], [, b]) => a - b
  assert.deepEqual(listed.sort(order), Object.entries({ ...Ask, ...Tell, ...Both }).sort(order))
})

/** Parts in the notation of the document. */
const written = (parts) => parts.map(([name, type]) => `${name}: ${type.name}`).join(', ')

test('each request is listed with its parts and its result, and whether it may be repeated', () => {
  const rows = Object.entries(requests).map(([name, { kind, parts, result, isRepeatable }]) => [
    `\`${name}\` ${kind}`,
    written(parts),
    result.name,
    isRepeatable ? 'yes' : ''
  ])
  assert.deepEqual(tableAfter('| message | parts after the number'), rows)
})

test('each other message is listed with its parts', () => {
  const others = Object.entries({ ...notices, ...told, ...signsOfLife })
  const rows = [...guide.matchAll(/^\| `(\w+)` (\d+) \| (.*?) ?\|/gm)]
  const listed = new Map(rows.map(([, name, kind, parts]) => [`${name} ${kind}`, parts]))
  for (const [name, { kind, parts }] of others)
    assert.equal(listed.get(`${name} ${kind}`), written(parts), name)
})

test('each content of an event is listed with its parts', () => {
  const rows = Object.entries(events).map(([name, { kind, parts }]) => [`${kind}, ${name}`, written(parts)])
  assert.deepEqual(
    tableAfter('| code | content').map(([code, parts]) => [code, parts]),
    rows
  )
})

test('each type of parts is explained, and no other', () => {
  const used = new Set()
  const note = ({ name, orNil, each }) => {
    if (orNil) note(orNil)
    else if (each) note(each)
    else used.add(name)
  }
  const forms = [requests, notices, told, signsOfLife, events].flatMap((each) => Object.values(each))
  for (const { parts, result } of forms) {
    for (const [, type] of parts) note(type)
    if (result) note(result)
  }
  const listed = tableAfter('| type |').map(([name]) => name.slice(1, -1))
  assert.deepEqual(listed.toSorted(), [...used].toSorted())
})

test('the numbers of the protocol are right', () => {
  const listed = tableAfter('The numbers of the protocol').map(([, number]) => numberIn(number))
  const { PROTOCOL_VERSION, PART_BYTES, MAX_HELLO_BYTES, MAX_BUFFERED_BYTES } = numbers
  assert.deepEqual(listed, [PROTOCOL_VERSION, PART_BYTES, MAX_HELLO_BYTES, MAX_BUFFERED_BYTES])
})

test('the limits and their defaults are right', () => {
  const listed = tableAfter('The limits of a server').map(([name, number]) => [
    name.slice(1, -1),
    numberIn(number)
  ])
  assert.deepEqual(Object.fromEntries(listed), defaultLimits)
})

test('each code of an error is explained, and no other', () => {
  const codes = [...errors.matchAll(/^ {2}\| '(NET_\w+)'/gm)].map(([, code]) => code)
  const listed = tableAfter('## Errors').map(([code]) => code.slice(1, -1))
  assert.ok(codes.length >= 11)
  assert.deepEqual(listed, codes)
})
