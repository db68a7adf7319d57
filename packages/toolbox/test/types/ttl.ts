// Checked by the compiler, not run: what the declarations allow and what they refuse.

import { ClassicLevel } from 'classic-level'
import { MemoryLevel } from 'memory-level'
import { Level } from 'terrace'
import { type TtlLevel, ttl } from 'terrace-toolbox/ttl'

interface Session {
  user: string
}

export async function views(): Promise<void> {
  const db = new Level('directory')
  const sessions: TtlLevel<string, Session> = ttl(
    db.sublevel<string, Session>('sessions', { valueEncoding: 'json' }),
    { defaultTtlMs: 1000, checkIntervalMs: Infinity, now: () => 5, onError: (error) => void error }
  )
  await sessions.put('a', { user: 'anna' })
  await sessions.put('a', { user: 'anna' }, { ttlMs: 100 })
  await sessions.batch([
    { type: 'put', key: 'a', value: { user: 'anna' }, ttlMs: 100 },
    { type: 'del', key: 'b' }
  ])
  await sessions.batch([{ type: 'put', key: 'a', value: { user: 'anna' } }], { ttlMs: 100 })
  const session: Session | undefined = await sessions.get('a')
  const at: number | undefined = await sessions.expiresAt('a')
  const isThere: boolean = await sessions.touch('a', 100)
  const removed: number = await sessions.removeExpired()
  const nested = sessions.sublevel('nested')
  for await (const [key, { user }] of sessions.iterator({ gt: 'a' })) void [key.length, user]
  void [session, at, isThere, removed, nested]

  const memory: TtlLevel<string, string> = ttl(new MemoryLevel())
  const classic: TtlLevel<string, Session> = ttl(
    new ClassicLevel<string, Session>('directory', { valueEncoding: 'json' })
  )
  // With custom encodings.
  const dates: TtlLevel<string, Date> = ttl(db, {
    valueEncoding: { encode: (date: Date) => date.toJSON(), decode: (text: string): Date => new Date(text) }
  })
  const numbers: TtlLevel<string, number> = ttl<string, string, string, number>(db, { valueEncoding: 'json' })
  void [memory, classic, dates, numbers]

  // @ts-expect-error a value is a session
  await sessions.put('a', 'anna')
  // @ts-expect-error a time to live is a number
  await sessions.put('a', { user: 'anna' }, { ttlMs: '100' })
  // @ts-expect-error an option of another type
  ttl(new MemoryLevel(), { defaultTtlMs: '5' })
  // @ts-expect-error not a public method
  sessions._get('a', {})
}
