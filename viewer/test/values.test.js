// Bytes as text, numbers, objects; what a search finds; what an export has.

import assert from 'node:assert/strict'
import test from 'node:test'
import { serialize } from 'node:v8'
import { afterPrefix, concat, hex, unhex, utf8 } from '../src/bytes.js'
import { escaped, fromEscaped, jsonOfBytes } from '../src/escape.js'
import { plain } from '../src/layouts/plain.js'
import { NotDecoded } from '../src/layouts/reader.js'
import { matcher } from '../src/matches.js'
import { databasesIn } from '../src/page/directory.js'
import { notADatabase, problemOf } from '../src/page/problems.js'
import { bytewiseText, likelyBytewiseText } from '../src/values/bytewise.js'
import { hexLines } from '../src/values/hex.js'
import { nbtOf } from '../src/values/nbt.js'
import { numbersOf, varintOf } from '../src/values/numbers.js'
import { v8Value } from '../src/values/v8.js'
import { viewsOf } from '../src/values/views.js'
import { LineWriter } from '../src/worker/line-writer.js'

const everyByte = Uint8Array.from({ length: 256 }, (_, byte) => byte)

test('the first key after a prefix', () => {
  assert.deepEqual(afterPrefix(unhex('61ff')), unhex('62'))
  assert.equal(afterPrefix(unhex('ffff')), undefined)
  assert.equal(afterPrefix(unhex('')), undefined)
})

test('escaped text is that of terrace, and comes back', () => {
  assert.equal(escaped(utf8('größer [1] "x"')), 'größer [1] "x"')
  assert.equal(escaped(unhex('00015c610aff')), '\\x00\\x01\\\\a\\n\\xff')
  assert.equal(escaped(utf8('a\u202eb\u0085c')), 'a\\xe2\\x80\\xaeb\\xc2\\x85c')
  for (const bytes of [everyByte, everyByte.toReversed(), utf8('ключ 😀'), unhex('f09f98'), unhex('e282')]) {
    assert.deepEqual(fromEscaped(escaped(bytes)), bytes)
    assert.deepEqual(unhex(hex(bytes, ' ')), bytes)
  }
  for (const wrong of ['\\q', '\\', '\\x', '\\x1', '\\xgg', '\\T'])
    assert.throws(() => fromEscaped(wrong), /is not an escape/, wrong)
  assert.equal(unhex('0'), undefined)
  assert.equal(unhex('0g'), undefined)
})

test('lines of an export are those of terrace', () => {
  const writer = new LineWriter()
  writer.add(utf8('a"\\b'), utf8('größer'))
  writer.add(unhex('ff00'), unhex(''))
  writer.add(utf8('\n\u007f\u202e'), utf8('x'.repeat(3 << 20)))
  const lines = new TextDecoder().decode(writer.take()).split('\n')
  assert.equal(lines[0], '{"key":"a\\"\\\\b","value":"größer"}')
  assert.equal(lines[1], '{"key":{"hex":"ff00"},"value":""}')
  assert.ok(lines[2].startsWith('{"key":"\\n\\u007f\\u202e","value":"xxx'))
  assert.equal(JSON.parse(lines[2]).value.length, 3 << 20)
  assert.equal(writer.size, 0)
  assert.equal(jsonOfBytes(utf8('\u{e0001}')), '"\\udb40\\udc01"')
})

test('a search finds text in each encoding that programs store', () => {
  const finds = (text, bytes, more = {}) =>
    matcher({ text, where: 'values', isHex: false, ...more }).matches(utf8(''), bytes)
  assert.ok(finds('shoe', utf8('a SHOE')))
  assert.ok(finds('Ωμ', Uint8Array.of(1, ...new Uint8Array(Uint16Array.of(0x3a9, 0x3bc).buffer))))
  assert.ok(finds('é', unhex('01e9')))
  assert.ok(finds('ab', unhex('00610062')))
  assert.ok(!finds('shoe', utf8('sho')))
  assert.ok(finds('\\xff\\x00', unhex('01ff0002')))
  assert.ok(finds('ff 00', unhex('01ff0002'), { isHex: true }))
  // Hexadecimal digits mean exactly these bytes.
  assert.ok(!finds('41', utf8('a'), { isHex: true }))
  assert.throws(
    () => matcher({ text: 'zz', where: 'keys', isHex: true }),
    /not a sequence of hexadecimal bytes/
  )
  const inKeys = matcher({ text: 'k', where: 'keys', isHex: false })
  assert.ok(inKeys.matches(utf8('k')) && !inKeys.needsValues)
  const prefix = matcher({ text: 'k', where: 'prefix', isHex: false })
  assert.ok(prefix.matches(utf8('kl')) && !prefix.matches(utf8('lk')))
})

test('numbers of the usual widths, dates, varints', () => {
  const rows = (hexadecimal) => Object.fromEntries(numbersOf(unhex(hexadecimal)))
  assert.deepEqual(rows('ff'), { unsigned: '255', signed: '-1' })
  assert.equal(rows('01000000')['unsigned, little-endian'], '1')
  assert.equal(rows('01000000')['unsigned, big-endian'], '16777216')
  assert.equal(rows('000000000000f03f')['floating point, little-endian'], '1')
  assert.equal(rows('0000018bcfe5687b')['ms since 1970, big-endian'], '2023-11-14T22:13:20.123Z')
  assert.deepEqual(rows('8001'), {
    'unsigned, little-endian': '384',
    'signed, little-endian': '384',
    'unsigned, big-endian': '32769',
    'signed, big-endian': '-32767',
    varint: '128'
  })
  assert.deepEqual(rows(''), {})
  assert.equal(varintOf(unhex('ff')), undefined)
  assert.equal(varintOf(unhex('0101')), undefined)
})

test('hex has offsets and text', () => {
  const lines = hexLines(everyByte)
  assert.equal(lines.length, 16)
  assert.equal(lines[4], '0040  40 41 42 43 44 45 46 47  48 49 4a 4b 4c 4d 4e 4f  @ABCDEFGHIJKLMNO')
  assert.deepEqual(hexLines(unhex('')), [])
})

test('bytewise keys', () => {
  assert.equal(bytewiseText(unhex('a070610070620000')), '["a", "b"]')
  assert.equal(bytewiseText(unhex('4240c81c8000000000')), '12345')
  assert.equal(bytewiseText(utf8('Plain')), undefined)
  assert.equal(bytewiseText(utf8('plain')), '"lain"')
  assert.equal(likelyBytewiseText(utf8('plain')), undefined)
  assert.equal(likelyBytewiseText(unhex('a0107000 00')), '[null, ""]')
})

/** A value as Blink stores it: its own version and trailer, then what V8 writes. */
const stored = (value) => concat(unhex('ff15fe000000000000000000000000'), serialize(value))

test('values of V8', () => {
  const value = {
    a: [1, -2, 2 ** 40, 1.5, 'ä', '日本', null, undefined, true],
    date: new Date(0),
    map: new Map([['k', { n: 1 }]]),
    set: new Set([1, 'x']),
    big: -(2n ** 70n),
    expression: /a+/g,
    bytes: new Uint8Array([1, 2, 255]).buffer,
    __proto__: null
  }
  assert.deepEqual(v8Value(stored(value)), {
    a: [1, -2, 2 ** 40, 1.5, 'ä', '日本', null, { $undefined: true }, true],
    date: { $date: '1970-01-01T00:00:00.000Z' },
    map: { $map: [['k', { n: 1 }]] },
    set: { $set: [1, 'x'] },
    big: { $bigint: '-1180591620717411303424' },
    expression: { $regexp: '/a+/', flags: 1 },
    bytes: { $buffer: '0102ff' }
  })
  const sparse = []
  sparse[1000] = 1
  assert.deepEqual(v8Value(stored(sparse)), { $sparse: { 1000: 1 } })
  const own = {}
  own.self = own
  assert.deepEqual(v8Value(stored(own)), { self: { $again: 0 } })
  const named = JSON.parse('{"__proto__": 1}')
  assert.equal(JSON.stringify(v8Value(stored(named))), '{"__proto__":1}')
})

test('no bytes make the decoders of values do anything but refuse', () => {
  const whole = stored({ a: [1, 'ä', new Date(0), new Map([[1, 2]])], b: 2n ** 70n })
  let refused = 0
  for (let at = 0; at < whole.length; at++) {
    for (const bytes of [whole.slice(0, at), whole.with(at, whole[at] ^ 0x7f), whole.with(at, 0xff)]) {
      try {
        v8Value(bytes)
      } catch (error) {
        assert.ok(error instanceof NotDecoded, `${at}: ${error.stack}`)
        refused++
      }
      nbtOf(bytes)
      numbersOf(bytes)
      viewsOf(plain, bytes, bytes)
    }
  }
  assert.ok(refused > whole.length)
})

test('NBT of Bedrock', () => {
  // { "id": "Chest", "x": -3, "Items": [{ "Count": 2 (byte) }], "far": 2^60 } within a compound without a name.
  const bytes = unhex(
    '0a0000' +
      '08020069640500 4368657374' +
      '03010078 fdffffff' +
      '090500 4974656d73 0a 01000000 01 0500 436f756e74 02 00' +
      '0403 00 666172 0000000000000010' +
      '00'
  )
  const value = { id: 'Chest', x: -3, Items: [{ Count: 2 }], far: 2 ** 60 }
  assert.deepEqual(nbtOf(bytes), value)
  assert.deepEqual(nbtOf(concat(bytes, bytes)), [value, value])
  assert.equal(nbtOf(bytes.slice(0, -1)), undefined)
  assert.equal(nbtOf(utf8('text')), undefined)
  // A list of a number of items that the bytes do not have.
  assert.equal(nbtOf(unhex('09000000ffffff7f')), undefined)
})

test('the first form of a value is the most telling', () => {
  const forms = (bytes) => viewsOf(plain, utf8('k'), bytes).map(({ title }) => title)
  assert.deepEqual(forms(utf8('{"a":1}')), ['JSON', 'Text', 'Hex'])
  assert.deepEqual(forms(utf8('plain text')), ['Text', 'Hex'])
  assert.deepEqual(forms(unhex('01000000')), ['Hex', 'Numbers', 'Escaped'])
  assert.deepEqual(forms(utf8('')), ['Text', 'Hex'])
  const [, text] = viewsOf(plain, utf8('k'), utf8(`[${'1,'.repeat(200_000)}1]`))
  assert.ok(text.isCut && text.text.length < 300_000)
})

test('databases are found by their files, wherever they are in a directory', () => {
  const file = (name) => ({ name, size: 10 })
  const at = (...paths) => paths.map((path) => ({ path, file: file(path.split('/').at(-1)) }))
  const found = databasesIn(
    at('w/level.dat', 'w/db/000005.ldb', 'w/db/CURRENT', 'w/old/000003.log', 'w/notes/a.txt')
  )
  assert.deepEqual(
    found.map(({ path, name, isWhole, sizeBytes }) => [path, name, isWhole, sizeBytes]),
    [
      ['w/db', 'db', true, 20],
      ['w/old', 'old', false, 10]
    ]
  )
  assert.deepEqual(
    databasesIn(at('000005.ldb')).map(({ name }) => name),
    ['files']
  )
  assert.deepEqual(databasesIn([]), [])
})

test('each problem says what to do', () => {
  const problem = (code, message, refusal) => problemOf({ code, message, refusal }, 'fruit')
  assert.ok(problem('LEVEL_CORRUPTION', 'x').canRepair)
  assert.match(problem('LEVEL_CORRUPTION', 'x').advice, /terrace repair fruit/)
  assert.match(
    problem('LEVEL_UNSUPPORTED_FORMAT', 'the keys are in an unknown order, `x`').advice,
    /idb_cmp1/
  )
  assert.match(problem('LEVEL_IO_ERROR', 'x', 'NotReadableError').text, /choose it again/)
  assert.match(problem('LEVEL_INTERNAL_ERROR', 'x').advice, /Reload the page/)
  assert.equal(notADatabase([]).title, 'The directory is empty')
})
