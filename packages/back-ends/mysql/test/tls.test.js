// TLS: a certificate that is valid for the host is accepted, and no other one.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { HANG_MS } from '../../../../tests/support/waiting.mjs'
import { temporaryDirectory } from '../../../terrace/test/support/databases.js'
import { startServer } from './cluster/index.js'
import { newLevel, openLevel, test } from './support/databases.js'
import { UNSYNCED } from './support/server.js'

/** Makes a certificate for names of a host. */
function certificate(directory, name, names) {
  const [key, cert] = ['key', 'cert'].map((kind) => join(directory, `${name}-${kind}.pem`))
  const args = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', `/CN=${name}`]
  execFileSync('openssl', [...args, '-addext', `subjectAltName=${names}`, '-keyout', key, '-out', cert], {
    stdio: 'pipe'
  })
  // The server runs as another user.
  for (const file of [key, cert]) chmodSync(file, 0o644)
  return { key, cert }
}

async function startWith(t, { key, cert }) {
  const server = await startServer({
    args: [...UNSYNCED, `--ssl-cert=${cert}`, `--ssl-key=${key}`]
  })
  t.after(() => server.stop())
  // mysql2 compares names, not addresses.
  return { url: server.url.replace('127.0.0.1', 'localhost') }
}

/** Why opening fails. It does so at once: the deadline is far off. */
async function refused(t, options, url) {
  const db = await newLevel(t, { ...options, deadlineMs: HANG_MS }, url)
  const error = await db.open().then(
    () => undefined,
    (error) => error
  )
  return error?.cause
}

test('a certificate for the host, of an authority that is trusted, is accepted, and no other one', async (t) => {
  const directory = temporaryDirectory(t)
  chmodSync(directory, 0o755)
  const made = certificate(directory, 'right', 'IP:127.0.0.1,DNS:localhost')
  const other = certificate(directory, 'other', 'IP:127.0.0.1')
  const { url } = await startWith(t, made)
  const ca = readFileSync(made.cert, 'utf8')
  const db = await openLevel(t, { tls: { ca } }, url)
  await db.put('key', 'value')
  assert.equal(await db.get('key'), 'value')

  assert.match((await refused(t, {}, url.replace('mysql:', 'mysqls:'))).message, /self-signed|certificate/)
  const another = await refused(t, { tls: { ca: readFileSync(other.cert, 'utf8') } }, url)
  assert.match(another.message, /certificate/)
})

test('a certificate for another host is refused, unless the user says that it is right', async (t) => {
  const directory = temporaryDirectory(t)
  chmodSync(directory, 0o755)
  const made = certificate(directory, 'wrong', 'DNS:example.com,IP:10.9.9.9')
  const { url } = await startWith(t, made)
  const ca = readFileSync(made.cert, 'utf8')
  assert.match((await refused(t, { tls: { ca } }, url)).message, /altnames/)
  const db = await openLevel(t, { tls: { ca, verifyIdentity: false } }, url)
  assert.equal(await db.get('key'), undefined)
})
