// Encodings of encoding-down, and what takes their place by the table in UPGRADING.md.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import encode from 'encoding-down'
import leveldown from 'leveldown'
import levelup from 'levelup'
import { Level } from 'terrace'

const ofText = (name) => ({
  name,
  format: 'buffer',
  encode: (text) => Buffer.from(text, name),
  decode: (bytes) => bytes.toString(name)
})
const reversed = {
  type: 'reversed',
  buffer: true,
  encode: (text) => Buffer.from(text).reverse(),
  decode: (bytes) => Buffer.from(bytes).reverse().toString()
}
const bytes = Buffer.from([0, 128, 255])

/** The old encoding, the one in its place, and a value. */
const CASES = [
  ['utf8', 'utf8', 'grün'],
  ['json', 'json', { n: [1, null] }],
  ['hex', 'hex', 'beef'],
  ['base64', 'base64', 'AAECAw=='],
  ['binary', 'buffer', bytes],
  ['binary', 'binary', bytes],
  ['id', 'buffer', bytes],
  ['none', 'buffer', bytes],
  ['ascii', ofText('ascii'), 'green'],
  ['ucs2', ofText('ucs2'), 'grün'],
  ['utf16le', ofText('utf16le'), 'grün'],
  [reversed, reversed, 'green']
]

for (const [before, after, value] of CASES) {
  const nameOf = (encoding) => encoding.name ?? encoding.type ?? encoding
  test(`what was written with ${nameOf(before)} is read with ${nameOf(after)}`, async (t) => {
    const directory = mkdtempSync(join(tmpdir(), 'terrace-encodings-'))
    t.after(() => rmSync(directory, { recursive: true }))
    const location = join(directory, 'db')

    const old = levelup(encode(leveldown(location), { valueEncoding: before }))
    await old.put('key', value)
    await old.close()

    const db = new Level(location, { valueEncoding: after })
    assert.deepEqual(await db.get('key'), value)
    await db.close()
  })
}
