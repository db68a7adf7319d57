// Compares messages on the wire with recorded ones, byte for byte. A new protocol version must be recorded again: see
// support/conversations.js.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { notices, requests, signsOfLife, told } from '../dist/protocol/messages.js'
import { readParts } from '../dist/protocol/parts.js'
import { conversations, messagesIn } from './support/conversations.js'

const file = new URL('conversations.txt', import.meta.url)

/** The recorded frames of each direction, as text. */
const recorded = Object.fromEntries(
  readFileSync(file, 'utf8')
    .split('# ')
    .slice(1)
    .map((part) => {
      const [name, ...frames] = part.trim().split('\n')
      return [name, frames]
    })
)

const bytesIn = (frame) =>
  Buffer.concat(
    frame.split(' ').map((part) => {
      const [hex, count = 1] = part.split('*')
      return Buffer.from(hex.repeat(Number(count)), 'hex')
    })
  )

test('client and server send the same bytes as when they were recorded', async () => {
  assert.deepEqual(await conversations(), recorded)
})

test('every kind of message was recorded, and the table has the parts of each', () => {
  const forms = { ...notices, ...told, ...signsOfLife }
  for (const [name, { kind, parts, result }] of Object.entries(requests)) {
    forms[name] = { kind, parts: [['number', told.result.parts[0][1]], ...parts], result }
  }
  const messages = Object.values(recorded).flatMap((frames) => messagesIn(frames.map(bytesIn)))
  const asked = new Map(
    messages.filter(([kind]) => kind < notices.hello.kind).map((each) => [each[1], each[0]])
  )
  for (const [name, { kind, parts }] of Object.entries(forms)) {
    const found = messages.filter(([each]) => each === kind)
    // A client's ping is covered by the document.
    if (name !== 'ping') assert.ok(found.length > 0, name)
    for (const message of found) assert.equal(readParts(parts, message).length, parts.length)
  }
  const results = messages.filter(([kind]) => kind === told.result.kind)
  for (const [, number, result] of results) {
    const kind = asked.get(number)
    const [name, form] = Object.entries(requests).find(([, each]) => each.kind === kind)
    assert.ok(form.result.isValid(result), name)
  }
})
