// Sessions that expire: an expired session is never returned, and is removed automatically.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Level } from 'terrace'
import { ttl } from 'terrace-toolbox/ttl'

const directory = mkdtempSync(join(tmpdir(), 'terrace-example-'))
const db = new Level(join(directory, 'db'))

try {
  const users = db.sublevel('users')
  const sessions = ttl(db.sublevel('sessions', { valueEncoding: 'json' }), {
    defaultTtlMs: 60_000,
    checkIntervalMs: 20
  })

  await sessions.put('token-of-anna', { user: 'anna' })
  await sessions.put('token-of-bert', { user: 'bert' }, { ttlMs: 50 })
  await sessions.put('token-of-a-robot', { user: 'robot' }, { ttlMs: Infinity })
  // One batch, together with data outside the sessions.
  await sessions.batch([
    { type: 'put', key: 'token-of-cleo', value: { user: 'cleo' }, ttlMs: 50 },
    { type: 'put', sublevel: users, key: 'cleo', value: 'Cleo' }
  ])
  console.log('at first:', await sessions.keys().all())

  await sessions.touch('token-of-cleo', 60_000)
  await sleep(60)
  console.log('later:', await sessions.keys().all())

  while ((await db.sublevel('sessions').keys().all()).length > 3) await sleep(5)
  console.log('bert’s session is removed, too, not only hidden')
} finally {
  await db.close()
  rmSync(directory, { recursive: true })
}
