// Passwords and tokens are in nothing that the program prints, wherever they are in its arguments and its environment.

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Level } from 'terrace'
import { isShort } from '../../../tests/support/form.mjs'
import { directory } from './support/directory.js'
import { run } from './support/program.js'

const SECRET = 'SECRETKEY'

/** Places with a secret in which no database can be. */
const places = [
  `slatedb:s3://AKIA123:wJalr/${SECRET}@bucket/path`,
  `slatedb:s3://AKIA123:${SECRET}/wJalr@bucket/path`,
  `slatedb:az://account/c?sv=2024&sig=${SECRET}`,
  `SLATEDB:s3://${SECRET}@bucket`,
  `MYSQL://ada:se/${SECRET}@127.0.0.1:1/shop`,
  `mysql://ada:se/${SECRET}@127.0.0.1:1/shop`,
  `mysql://ada:se?${SECRET}@127.0.0.1:1/shop`,
  `mysql://ada:${SECRET}@127.0.0.1:1/shop`,
  `mysqls://ada@127.0.0.1:1/shop?sslpassword=${SECRET}`,
  `tcp://ada:se/${SECRET}@127.0.0.1:1`,
  `tcp://${SECRET}@127.0.0.1:1`,
  `tcp:${SECRET}@127.0.0.1:1`,
  `TLS://${SECRET}@127.0.0.1:1`,
  `ws://127.0.0.1:1/path?token=${SECRET}`,
  `wss://ada:${SECRET}@[::1/`,
  `redis://:${SECRET}@127.0.0.1/1`,
  `level://ada:${SECRET}@127.0.0.1/x`,
  `lmdb://ada:${SECRET}@127.0.0.1/x`
]

/** Whether a run of six characters of the secret is in a text. */
function isShown(text) {
  for (let i = 0; i + 6 <= SECRET.length; i++) {
    if (text.toLowerCase().includes(SECRET.slice(i, i + 6).toLowerCase())) return true
  }
  return false
}

for (const [index, place] of places.entries()) {
  const name = place.replace(SECRET, '…')
  test(`copying from ${name}, to it, and a command line that has it where it does not belong`, async (t) => {
    const cwd = directory(t)
    const env = { AWS_EC2_METADATA_DISABLED: 'true' }
    const all = [
      [place, 'none'],
      ['none', place],
      ['a', 'b', place],
      ['a', 'b', `--prefix=\\${place}`],
      ['a', 'b', `--${place}`]
    ]
    // In the short form each place is in one kind of line, and each kind of line has some places.
    for (const args of isShort ? [all[index % all.length]] : all) {
      const { code, out, err } = await run(t, args, { cwd, env })
      assert.notEqual(code, 0, err)
      assert.ok(!isShown(out + err), err)
      assert.match(err, /^terrace-copy: /)
    }
  })
}

test('a secret of the environment or of a file of options that is in a path as well', async (t) => {
  const cwd = directory(t)
  const path = join(cwd, SECRET)
  for (const env of [{ TERRACE_TO_TOKEN: SECRET }, { AWS_SECRET_ACCESS_KEY: SECRET }]) {
    const { code, err } = await run(t, [path, 'tcp://127.0.0.1:1'], { cwd, env })
    assert.equal(code, 3)
    assert.ok(!isShown(err.replace('SECRETKEY.json', '')), err)
  }
  const db = new Level(path)
  await db.put('a', 'b')
  await db.close()
  writeFileSync(join(cwd, 'options.json'), JSON.stringify({ nested: { password: SECRET } }), { mode: 0o600 })
  for (const more of [[], ['--json']]) {
    const args = [SECRET, 'copy', '--from-options', 'options.json', '--overwrite', ...more]
    const { code, out, err } = await run(t, args, { cwd })
    assert.deepEqual({ code, err }, { code: 0, err: '' })
    assert.ok(!isShown(out), out)
    if (more.length > 0) assert.equal(JSON.parse(out).from, '***')
  }
})

test('schemes in capital letters are the same schemes', async (t) => {
  const cwd = directory(t)
  const db = new Level(join(cwd, 'level'))
  await db.put('a', 'b')
  await db.close()
  const { code, err } = await run(t, ['LEVEL:level', 'Lmdb:copy'], { cwd })
  assert.deepEqual({ code, err }, { code: 0, err: '' })
})
