// Which layout a database has, what its keys say, and how they are grouped.

import assert from 'node:assert/strict'
import test from 'node:test'
import { unhex, utf8 } from '../src/bytes.js'
import { bedrockLayout, chunkPart } from '../src/layouts/bedrock.js'
import { layoutOf } from '../src/layouts/index.js'
import { indexedDbLayout } from '../src/layouts/indexeddb.js'
import { keyOf, parse as parseIdb } from '../src/layouts/indexeddb-keys.js'
import { localStorageLayout, parse } from '../src/layouts/local-storage.js'
import { partEnd, plain, sublevelName } from '../src/layouts/plain.js'
import { sessionStorageLayout } from '../src/layouts/session-storage.js'

const BYTEWISE = 'leveldb.BytewiseComparator'
const keysOf = (...texts) => texts.map(utf8)

/** The labels of the groups of keys below a node, in order, without repetition. */
function labels(layout, keys, node = {}) {
  const { groupOf } = layout.grouping(node, keys[0], keys.at(-1))
  return [...new Set(keys.map((key) => groupOf(key)?.label))]
}

test('a layout is recognised by the order and the first keys', () => {
  const layout = (facts) => layoutOf({ order: BYTEWISE, keys: [], names: [], ...facts }).id
  assert.equal(layout({}), 'plain')
  assert.equal(layout({ order: 'idb_cmp1' }), 'indexeddb')
  assert.equal(
    layout({ keys: keysOf('META:https://a.b', 'VERSION', '_https://a.b\0\x01k') }),
    'local-storage'
  )
  assert.equal(layout({ keys: keysOf('VERSION', 'other') }), 'plain')
  assert.equal(
    layout({ keys: keysOf('map-0-a', 'namespace-x-https://a.b/', 'next-map-id') }),
    'session-storage'
  )
  assert.equal(layout({ keys: keysOf('mapping', 'version') }), 'plain')
  assert.equal(layout({ keys: keysOf('a'), names: ['~local_player'] }), 'bedrock')
  assert.equal(
    layout({ keys: [unhex('01000000ffffffff2f03'), utf8('x'), unhex('01000000ffffffff76')] }),
    'bedrock'
  )
})

test('keys of any program are grouped at separators', () => {
  const end = (text, from = 0) => partEnd(utf8(text), from)
  assert.equal(end('user:17:name'), 5)
  assert.equal(end('user:17:name', 5), 8)
  assert.equal(end('user:17:name', 8), undefined)
  assert.equal(end('https://a.b/c'), 8)
  assert.equal(end('a\0b'), 2)
  // In binary keys, zeros separate nothing.
  assert.equal(partEnd(unhex('0100000002'), 0), undefined)
  assert.equal(partEnd(unhex('0000'), 0), undefined)
  assert.equal(end(''), undefined)
})

test('what all keys have in common makes no group of its own', () => {
  const keys = keysOf('app/users/1/name', 'app/users/2/name', 'app/users/2/shoe')
  assert.deepEqual(labels(plain, keys), ['app/users/1/', 'app/users/2/'])
  assert.deepEqual(labels(plain, keys.slice(1), { prefix: utf8('app/users/2/') }), [undefined])
})

test('many keys without separators are grouped by their next character', () => {
  const [first, last] = keysOf('key-0ä', 'key-9')
  const { bucketOf, groupOf } = plain.grouping({}, first, last)
  assert.equal(groupOf(first), undefined)
  assert.deepEqual(bucketOf(utf8('key-ä1')).prefix, utf8('key-ä'))
  assert.equal(bucketOf(utf8('key-')), undefined)
  assert.deepEqual(bucketOf(unhex('6b65792dff')).upper, unhex('6b65792e'))
})

test('the groups of a prefix end where the next key begins', () => {
  const group = plain.grouping({}, utf8('a:'), utf8('b:')).groupOf(utf8('a:1'))
  assert.deepEqual([group.lower, group.upper], keysOf('a:', 'a;'))
})

test('sublevels of abstract-level are recognised, also within each other', () => {
  assert.equal(sublevelName(utf8('!users!')), 'users')
  assert.equal(sublevelName(utf8('!a!!b!')), 'a › b')
  assert.equal(sublevelName(utf8('a!b!')), undefined)
  const keys = keysOf('!posts!1', '!users!1', '!users!2')
  assert.deepEqual(labels(plain, keys), ['posts', 'users'])
  assert.equal(plain.grouping({}, keys[0], keys[2]).groupOf(keys[0]).kind, 'sublevel')
  assert.deepEqual(labels(plain, keysOf('!a!!b!1', '!a!!c!1'), { prefix: utf8('!a!') }), ['b', 'c'])
  assert.equal(partEnd(utf8('!unfinished'), 0), undefined)
})

test('Local Storage: every kind of key', () => {
  assert.deepEqual(parse(utf8('VERSION')), { kind: 'version' })
  assert.deepEqual(parse(utf8('META:https://a.b')), { kind: 'written', origin: 'https://a.b' })
  assert.deepEqual(parse(utf8('METAACCESS:https://a.b')), { kind: 'used', origin: 'https://a.b' })
  const entry = { kind: 'entry', origin: 'https://a.b', name: 'ké' }
  assert.deepEqual(parse(unhex('5f 68747470733a2f2f612e62 00 01 6be9')), entry)
  assert.deepEqual(parse(unhex('5f 68747470733a2f2f612e62 00 00 6b00e900')), entry)
  for (const other of ['', 'VERSIO', '_https://a.b', '_a\0', '_a\0\x02x', '_a\0\0x']) {
    assert.equal(parse(utf8(other)), undefined, other)
  }
  const keys = [...keysOf('META:https://a.b', 'METAACCESS:https://a.b', 'VERSION', '_https://a.b:1\0\x01k')]
  assert.deepEqual(labels(localStorageLayout, keys), [
    'when written, size',
    'when used',
    undefined,
    'https://a.b:1'
  ])
})

test('Local Storage: values follow their keys', () => {
  const value = (key, bytes) => localStorageLayout.decode(utf8(key), bytes)
  assert.deepEqual(value('_a\0\x01k', unhex('0174657874')), { title: 'Text', text: 'text' })
  assert.deepEqual(value('_a\0\x01k', unhex('003dd800de')), { title: 'Text', text: '😀' })
  // 0x80 is not the sign of the euro.
  assert.deepEqual(value('_a\0\x01k', unhex('0180')), { title: 'Text', text: '\x80' })
  assert.equal(value('_a\0\x01k', unhex('')), undefined)
  assert.deepEqual(value('META:a', unhex('08808099c4e4d2d71410ac02')), {
    title: 'Facts',
    json: { written: '1970-01-01T00:00:00.000Z', sizeBytes: 300 }
  })
  assert.equal(value('META:a', unhex('08')), undefined)
  assert.equal(value('META:a', unhex('0a0178')), undefined)
})

test('Session Storage: maps are groups, and their values UTF-16', () => {
  const guid = 'ee4885db_7bba_4328_af1e_6b575a8927b7'
  const keys = keysOf('map-0-a', 'map-12-a', `namespace-${guid}-https://a.b/`, 'next-map-id')
  assert.deepEqual(labels(sessionStorageLayout, keys), ['map-0-', 'map-12-', `namespace-${guid}-`, undefined])
  assert.deepEqual(sessionStorageLayout.decode(keys[0], unhex('6100e400')), { title: 'Text', text: 'aä' })
  assert.equal(sessionStorageLayout.decode(keys[0], unhex('61')), undefined)
  assert.equal(sessionStorageLayout.decode(keys[2], unhex('3100')), undefined)
})

test('Minecraft Bedrock: parts of chunks by place and tag', () => {
  const part = (hex) => chunkPart(unhex(hex))
  assert.deepEqual(part('03000000feffffff2f05'), {
    x: 3,
    z: -2,
    dimension: 'Overworld',
    tag: 'SubChunkPrefix',
    y: 5
  })
  assert.deepEqual(part('03000000feffffff2ffc').y, -4)
  assert.deepEqual(part('03000000feffffff0100000031'), {
    x: 3,
    z: -2,
    dimension: 'Nether',
    tag: 'BlockEntity'
  })
  for (const name of [
    '~local_player',
    'BiomeData',
    'mobevents',
    'scoreboard',
    'dimension0',
    'Overworld',
    ''
  ]) {
    assert.equal(chunkPart(utf8(name)), undefined, name)
  }
  const keys = [
    unhex('03000000feffffff2f05'),
    unhex('03000000feffffff0100000031'),
    utf8('player_1'),
    utf8('~local_player')
  ]
  assert.deepEqual(labels(bedrockLayout, keys), ['chunk 3, -2', 'player_', undefined])
  assert.equal(bedrockLayout.describe(keys[1]), 'BlockEntity · chunk 3, -2 · Nether')
})

// The examples are those of crates/cli/src/text/idb.rs.
test('IndexedDB: keys', () => {
  const described = (hex) => indexedDbLayout.describe(unhex(hex))
  assert.equal(described('0000000000'), 'schema version')
  assert.equal(described('000100003201 00'), 'object store name · 1')
  assert.equal(described('0001000064011e00'), 'index name · 1 · 30')
  assert.equal(described('0001010103000000000000f03f'), '1')
  assert.equal(described('0001011e0101006109 03000000000000f03f'), '"a" → 1')
  assert.deepEqual(parseIdb(unhex('0001010104020101006103000000000000f03f')).key, ['a', 1])
  for (const hex of [
    '',
    '00',
    '000000',
    'ff',
    '00000000',
    '0000000007',
    '000000000000',
    '0001010400',
    '0001010107'
  ]) {
    assert.equal(parseIdb(unhex(hex)), undefined, hex)
  }
  // Arrays within arrays, as deep as a key allows.
  assert.equal(parseIdb(Uint8Array.from([0, 1, 1, 1, ...Array(1000).fill([4, 1]).flat()])), undefined)
})

test('IndexedDB: values', () => {
  const value = (key, bytes) => indexedDbLayout.decode(unhex(key), unhex(bytes))
  assert.deepEqual(value('0000000000', '05'), { title: 'Number', json: 5 })
  assert.deepEqual(value('00010000320100', '00630061'), { title: 'Text', text: 'ca' })
  assert.deepEqual(value('0001000004', '8001'), { title: 'Number', json: 128 })
  assert.deepEqual(value('0001000064011e01', '01'), { title: 'Truth', json: true })
  assert.deepEqual(value('0001011e0101006109', '0103000000000000f03f').json, { version: 1, primaryKey: '1' })
  assert.equal(value('00010000320101', '0000010200690064').json, 'id')
  assert.deepEqual(value('0001000064011e02', '0000020201006101 0062').json, ['a', 'b'])
  assert.equal(value('00010000320101', '000000').json, null)
  assert.equal(value('0001010103000000000000f03f', '01ff15'), undefined)
})

test('IndexedDB: groups by database, object store and index, whatever the width of their ids', () => {
  const record = keyOf({ database: 300, store: 2, index: 1 }, 3, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f)
  const { groupOf } = indexedDbLayout.grouping({})
  const database = groupOf(record)
  assert.deepEqual(database.ids, { database: 300 })
  assert.deepEqual(database.upper, keyOf({ database: 301 }, 0))
  const store = indexedDbLayout.grouping(database).groupOf(record)
  assert.equal(store.label, 'object store 2')
  const records = indexedDbLayout.grouping(store).groupOf(record)
  assert.deepEqual([records.label, records.isLast], ['records', true])
  assert.equal(indexedDbLayout.grouping(records).groupOf(record), undefined)
  assert.deepEqual(keyOf({ database: 300 }), unhex('202c010000'))
})
