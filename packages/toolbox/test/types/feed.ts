// Checked by the compiler, not run: what the declarations allow and what they refuse.

import { MemoryLevel } from 'memory-level'
import { Level } from 'terrace'
import {
  type Change,
  type Count,
  type CountDifference,
  count,
  type Feed,
  type FeedError,
  feed,
  type WatchEvent,
  watch
} from 'terrace-toolbox/feed'

interface User {
  name: string
  age: number
}

export async function feeds(): Promise<void> {
  const db = new Level<string, User>('directory', { valueEncoding: 'json' })
  const users = db.sublevel<string, User>('users', { valueEncoding: 'json' })
  const changes: Feed<string, User> = feed<string, User>(users, {
    name: 'changes',
    range: { prefix: 'a' },
    oldValues: true,
    retention: { count: 1000, ageMs: 60_000, sizeBytes: 1e6 }
  })

  for await (const change of changes.read({
    after: 1,
    live: true,
    limit: 5,
    signal: new AbortController().signal
  })) {
    const known: Change<string, User> = change
    const name: string | undefined = change.value?.name
    void [known, name, change.sequence.toFixed(), change.first && change.last]
    // @ts-expect-error: a del has no value
    change.value.name
  }

  for await (const { key } of changes.read<Uint8Array>({ keyEncoding: 'view' })) key.byteLength

  // @ts-expect-error: no such option
  feed(users, { retention: { days: 1 } })
  // @ts-expect-error: a number
  changes.read({ after: '1' })
  const removed: number = await changes.trim()
  void removed
  await changes.close()
}

export async function others(): Promise<void> {
  const db = new MemoryLevel<string, User>({ valueEncoding: 'json' })
  const ages: Count = count<string, User>(db, { name: 'ages', of: (_key, { age }) => `${age}` })
  const ranges = count(db, { name: 'ranges', of: [{ name: 'a to m', gte: 'a', lt: 'n' }], version: '2' })
  const number: number = await ages.get('5')
  const wrong: CountDifference[] = await ranges.verify()
  for await (const [group, size] of ages.entries({ prefix: '1' })) void [group.length, size.toFixed()]
  // @ts-expect-error: groups are text
  count<string, User>(db, { name: 'ages', of: (_key, { age }) => age })

  for await (const event of watch<string, User>(db, { key: 'a' })) {
    const known: WatchEvent<string, User> = event
    if (event.type === 'put') event.value.name.length
    void [known, number, wrong]
  }
  const code = (error: FeedError): 'FEED_TRIMMED' | undefined =>
    error.code === 'FEED_TRIMMED' ? error.code : undefined
  void code
}
