// No run of six characters of a secret is in what is printed, however a text has it.

import assert from 'node:assert/strict'
import test from 'node:test'
import { inspect } from 'node:util'
import { Redaction, redactedUrl } from 'terrace-core'
import { scaled } from '../../../tests/support/form.mjs'
import { randomOf } from './support/random.js'

const seed = Number(process.env.TERRACE_SEED ?? Date.now() % 1_000_000_000)

/** What of a URL of MySQL is shown. */
const MYSQL = { user: true, parameters: ['name'] }

/** Characters of passwords, with all that have a meaning in URLs. */
const CHARACTERS = 'abcXYZ0189/@:?#&=%+ \\"\'$!äß'

/** Whether six characters in a row of a secret are in a text, in small letters or not. */
function isShown(text, secret) {
  const [where, what] = [text.toLowerCase(), secret.toLowerCase()]
  for (let i = 0; i + 6 <= what.length; i++) if (where.includes(what.slice(i, i + 6))) return true
  return false
}

/** What a store may say of a place that it was given, in an error or a log. */
const quotations = [
  (secret) => secret,
  (_, url) => `'${url}' is not valid`,
  (secret) => encodeURIComponent(secret),
  (secret) => encodeURI(secret),
  (secret) => JSON.stringify({ password: secret }),
  (secret) => inspect({ password: secret }),
  (secret) => `host ${secret.slice(1).toLowerCase()}: not found`,
  (_, url) =>
    url
      .split('/')
      .map((part) => `'${part}'`)
      .join(' '),
  (_, url) => (URL.canParse(url) ? new URL(url).href : url)
]

test('no run of six characters of any secret is left, wherever it was and however it is quoted', () => {
  for (let trial = 0; trial < scaled(200); trial++) {
    const random = randomOf(seed + trial)
    const below = (n) => Math.floor(random() * n)
    const secret = Array.from({ length: 6 + below(30) }, () => CHARACTERS[below(CHARACTERS.length)]).join('')
    const places = [
      `mysql://ada:${secret}@db.example:3307/shop`,
      `MYSQL://ada:${secret}@db.example`,
      `s3://ID:${secret}@bucket/path`,
      `s3://${secret}@bucket/path?version=1`,
      `tcp://${secret}@127.0.0.1:1`,
      `tcp:${secret}@127.0.0.1:1`,
      `az://account/c?sv=2024&sig=${encodeURIComponent(secret)}`,
      `wss://host/path?${encodeURIComponent(secret)}`,
      `wss://host/path#${secret}`
    ]
    for (const url of places) {
      const redaction = new Redaction()
      const shown = redaction.addUrl(url, url.startsWith('mysql') ? MYSQL : {})
      const hint = `TERRACE_SEED=${seed + trial}: ${JSON.stringify({ url, secret })}`
      assert.ok(!isShown(shown, secret), `${hint} is shown as ${shown}`)
      for (const quote of quotations) {
        const text = redaction.redact(`before ${quote(secret, url)} after`)
        assert.ok(!isShown(text, secret), `${hint}: ${text}`)
        assert.ok(text.startsWith('before') && text.endsWith('after'), text)
      }
    }
  }
})

test('what is no secret stays: schemes, hosts, paths, names of parameters', () => {
  for (const [url, expected, shown] of [
    ['s3://bucket/path', 's3://bucket/path'],
    ['s3://ID:a/b@bucket/path', 's3://***@bucket/path'],
    ['mysql://ada@h:1,i:2/s?name=n&x=y', 'mysql://ada@h:1,i:2/s?name=n&x=***', MYSQL],
    ['mysql://ada:p/w@h/s', 'mysql://ada:***@h/s', MYSQL],
    ['mysql://se/cret@h/s', 'mysql://***@h/s', MYSQL],
    ['mysql://u:p?w@h/s', 'mysql://***', MYSQL],
    ['tcp://TOKEN@h:1', 'tcp://***@h:1'],
    ['az://a/c?sv=2024&sig=x#y', 'az://a/c?sv=***&sig=***#***'],
    ['C:\\Users\\me@work', 'C:\\Users\\me@work'],
    ['./shop', './shop'],
    ['', '']
  ]) {
    assert.equal(new Redaction().addUrl(url, shown), expected)
    if (shown === undefined) assert.equal(redactedUrl(url), expected)
  }
})

test('short secrets are masked as words, not within others, and URLs of strangers lose their users', () => {
  const redaction = new Redaction()
  redaction.add('a')
  redaction.add('pw1')
  redaction.add('')
  for (const [text, expected] of [
    ['bananas, a=pw1; pw12', 'bananas, ***=***; pw12'],
    ['see http://u:p/w@h/x and foo://h/x', 'see http://***@h/x and foo://h/x'],
    ['as it was', 'as it was']
  ]) {
    assert.equal(redaction.redact(text), expected)
  }
})
