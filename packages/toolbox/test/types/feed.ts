// Checked by the compiler, not run: what the declarations allow and what they refuse.

import { ClassicLevel } from 'classic-level'
import { MemoryLevel } from 'memory-level'
import { Level } from 'terrace'
import { bytewise, prefix } from 'terrace-bytewise'
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
import { ttl } from 'terrace-toolbox/ttl'

/** Accepts only a value whose type is exactly `T`. Any other value would need an argument that does not exist. */
function expectType<T>(): <U>(value: U, ...missing: Equal<T, U> extends true ? [] : [never]) => void {
  return () => undefined
}

type Equal<A, B> = (<X>() => X extends A ? 1 : 2) extends <X>() => X extends B ? 1 : 2 ? true : false

interface User {
  name: string
  age: number
}

/** An encoding that gives another type than it takes. */
const dates = {
  name: 'dates',
  format: 'utf8' as const,
  encode: (date: Date | number): string => String(Number(date)),
  decode: (text: string): Date => new Date(Number(text))
}

export async function feeds(): Promise<void> {
  const db = new Level<string, User>('directory', { valueEncoding: 'json' })
  const users = db.sublevel<string, User>('users', { valueEncoding: 'json' })
  const changes = feed(users, {
    name: 'changes',
    range: { prefix: 'a' },
    oldValues: true,
    retention: { count: 1000, ageMs: 60_000, sizeBytes: 1e6 }
  })
  expectType<Feed<string, User>>()(changes)
  expectType<Feed<string, User>>()(feed<string, User>(users))

  for await (const change of changes.read({
    after: 1,
    live: true,
    limit: 5,
    gt: 'a',
    signal: new AbortController().signal
  })) {
    expectType<Change<string, User>>()(change)
    const name: string | undefined = change.value?.name
    void [name, change.sequence.toFixed(), change.first && change.last]
    // @ts-expect-error: a del has no value
    change.value.name
    // @ts-expect-error: a value is a user
    change.value?.toUpperCase()
  }

  for await (const { key } of changes.read<Uint8Array>({ keyEncoding: 'view' })) key.byteLength
  for await (const { key, value } of changes.read({ valueEncoding: dates })) {
    expectType<string>()(key)
    expectType<Date | undefined>()(value)
  }

  // @ts-expect-error: no such option
  feed(users, { retention: { days: 1 } })
  // @ts-expect-error: a key is a string
  feed(users, { range: { gt: 5 } })
  // @ts-expect-error: a number
  changes.read({ after: '1' })
  // @ts-expect-error: a key is a string
  changes.read({ gt: 5 })
  // @ts-expect-error: values are users
  feed<string, string>(users)
  // @ts-expect-error: not a database
  feed({})
  const removed: number = await changes.trim()
  void removed
  await changes.close()
}

export function databases(): void {
  expectType<Feed<string, string>>()(feed(new Level('directory')))
  expectType<Feed<string, User>>()(
    feed(new ClassicLevel<string, User>('directory', { valueEncoding: 'json' }))
  )
  expectType<Feed<number, User>>()(feed(new MemoryLevel<number, User>()))
  expectType<Feed<number, User>>()(feed(new MemoryLevel().sublevel<number, User>('users', {})))
  expectType<Feed<Uint8Array, Buffer>>()(
    feed(new Level('directory').sublevel<Uint8Array, Buffer>('bytes', {}))
  )
  expectType<Feed<number, User>>()(feed(ttl(new Level<number, User>('directory'))))
  expectType<Feed<string, User>>()(feed(feed(new Level<string, User>('directory')).db, { name: 'more' }))

  type Place = [country: string, town: string]
  const places = new Level<Place, string>('directory', { keyEncoding: bytewise })
  expectType<Feed<Place, string>>()(feed(places, { range: prefix(['CH']) }))
}

export async function watchers(): Promise<void> {
  const db = new MemoryLevel<string, User>({ valueEncoding: 'json' })
  for await (const event of watch(db, { key: 'a' })) {
    expectType<WatchEvent<string, User>>()(event)
    if (event.type === 'put') event.value.name.length
    // @ts-expect-error: a value is a user
    if (event.type === 'put') event.value.toUpperCase()
  }
  for await (const event of watch(feed(db), { gte: 'a' }, { latest: true })) {
    expectType<WatchEvent<string, User>>()(event)
  }
  for await (const event of watch(new Level('directory').sublevel<number, User>('users', {}), {})) {
    expectType<WatchEvent<number, User>>()(event)
  }
  for await (const event of watch<string, User>(db, { prefix: 'a' })) {
    expectType<WatchEvent<string, User>>()(event)
  }
  const places = new ClassicLevel<string[], User>('directory', { keyEncoding: bytewise })
  for await (const event of watch(places, prefix(['CH']))) expectType<WatchEvent<string[], User>>()(event)

  // @ts-expect-error: a key is a string
  watch(db, { key: 5 })
  // @ts-expect-error: a key is a string
  watch(feed(db), { lt: 5 })
  // @ts-expect-error: something to watch is needed
  watch(db)
  const code = (error: FeedError): 'FEED_TRIMMED' | undefined =>
    error.code === 'FEED_TRIMMED' ? error.code : undefined
  void code
}

export async function counts(): Promise<void> {
  const db = new MemoryLevel<string, User>({ valueEncoding: 'json' })
  const ages: Count = count(db, {
    name: 'ages',
    of: (key, value) => {
      expectType<string>()(key)
      expectType<User>()(value)
      return `${value.age}`
    }
  })
  count(new Level<number, User>('directory').sublevel<string, User>('users', {}), {
    name: 'names',
    of: (key, { name }) => [key, name]
  })
  count<string, User>(db, { name: 'ages', of: (_key, { age }) => `${age}` })
  const ranges = count(db, { name: 'ranges', of: [{ name: 'a to m', gte: 'a', lt: 'n' }], version: '2' })
  const number: number = await ages.get('5')
  const wrong: CountDifference[] = await ranges.verify()
  for await (const [group, size] of ages.entries({ prefix: '1' })) void [group.length, size.toFixed()]
  void [number, wrong]

  // @ts-expect-error: groups are text
  count(db, { name: 'ages', of: (_key, { age }) => age })
  // @ts-expect-error: a value is a user
  count(db, { name: 'ages', of: (_key, value: string) => value })
  // @ts-expect-error: a user has no such property
  count(db, { name: 'ages', of: (_key, { colour }) => `${colour}` })
  // @ts-expect-error: a key is a string
  count(db, { name: 'ranges', of: [{ name: 'to 5', lt: 5 }] })
}
