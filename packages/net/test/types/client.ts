// Checked by the compiler, not run: the client, and the types of what it watches.

import type { AbstractLevel } from 'abstract-level'
import { type EventIterator, type FeedChange, NetLevel, type WatchedOperation } from 'terrace-net'

/** Accepts only a value whose type is exactly `T`. Any other value would need an argument that does not exist. */
function expectType<T>(): <U>(value: U, ...missing: Equal<T, U> extends true ? [] : [never]) => void {
  return () => undefined
}

type Equal<A, B> = (<X>() => X extends A ? 1 : 2) extends <X>() => X extends B ? 1 : 2 ? true : false

interface User {
  name: string
}

/** An encoding that gives another type than it takes. */
const dates = {
  name: 'dates',
  format: 'utf8' as const,
  encode: (date: Date | number): string => String(Number(date)),
  decode: (text: string): Date => new Date(Number(text))
}

type Methods = { double(number: number): number; later(): Promise<string> }

export async function reads(): Promise<void> {
  const db = new NetLevel<string, User, Methods>(() => 'unix:socket', {
    valueEncoding: 'json',
    token: 'secret'
  })
  const abstract: AbstractLevel<string | Buffer | Uint8Array, string, User> = db
  void abstract
  expectType<User | undefined>()(await db.get('a'))
  expectType<number>()(await db.call('double', 5))
  expectType<string>()(await db.call('later'))
  await db.batch([{ type: 'put', key: 'a', value: { name: 'anna' }, sublevel: db.sublevel('users') }])

  // @ts-expect-error: a value is a user
  await db.put('a', 'anna')
  // @ts-expect-error: the server has no such method
  await db.call('halve', 5)
  // @ts-expect-error: a number is wanted
  await db.call('double', '5')
  // @ts-expect-error: an address is needed
  new NetLevel()
}

export async function watching(): Promise<void> {
  const db = new NetLevel<string, User>('unix:socket', { valueEncoding: 'json' })
  const watched = db.watch({ gte: 'a' })
  expectType<EventIterator<Array<WatchedOperation<string, User>>>>()(watched)
  for await (const operations of watched) {
    expectType<Array<WatchedOperation<string, User>>>()(operations)
    for (const operation of operations) {
      if (operation.type === 'put') expectType<User>()(operation.value)
      if (operation.type === 'clear') expectType<boolean>()(operation.includes('a'))
    }
  }
  const { value, done } = await watched.next()
  if (done) expectType<undefined>()(value)

  const users = db.sublevel<number, User>('users', { valueEncoding: 'json' })
  for await (const operations of db.watch({ sublevel: users, gt: 5 })) {
    expectType<Array<WatchedOperation<number, User>>>()(operations)
  }
  for await (const operations of db.watch({ valueEncoding: dates })) {
    expectType<Array<WatchedOperation<string, Date>>>()(operations)
  }
  for await (const change of db.changes('users', { since: 5, valueEncoding: dates })) {
    expectType<FeedChange<string, Date>>()(change)
  }
  for await (const change of db.changes<number, Buffer>('users', { gte: 5 })) {
    expectType<FeedChange<number, Buffer>>()(change)
    // @ts-expect-error: a del has no value
    change.value.byteLength
  }
  // As the ranges of terrace-bytewise are.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  const range: { gte: any; lt: any } = { gte: 'a', lt: 'b' }
  for await (const change of db.changes('users', range)) expectType<FeedChange<string, User>>()(change)

  // @ts-expect-error: a key is a string
  db.watch({ gt: 5 })
  // @ts-expect-error: a key is a string
  db.changes('users', { lte: 5 })
  // @ts-expect-error: a key of the sublevel is a number
  db.watch({ sublevel: users, gt: 'a' })
  // @ts-expect-error: a number is wanted
  db.changes('users', { since: '5' })
  // @ts-expect-error: not a database
  db.watch({ sublevel: 'users' })
}
