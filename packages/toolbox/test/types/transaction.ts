// Checked by the compiler, not run: terrace-toolbox/transaction as a user would use it.

import { ClassicLevel } from 'classic-level'
import { MemoryLevel } from 'memory-level'
import { Level } from 'terrace'
import { type Transaction, type Transactions, transactions } from 'terrace-toolbox/transaction'

/** Accepts only a value whose type is exactly `T`. Any other value would need an argument that does not exist. */
function expectType<T>(): <U>(value: U, ...missing: Equal<T, U> extends true ? [] : [never]) => void {
  return () => undefined
}

type Equal<A, B> = (<X>() => X extends A ? 1 : 2) extends <X>() => X extends B ? 1 : 2 ? true : false

interface User {
  visits: number
}

const db = new Level<string, number>('./db', { valueEncoding: 'json' })
const users = db.sublevel<string, User>('users', { valueEncoding: 'json' })
const raw = db.sublevel<Uint8Array, Uint8Array>('raw', { keyEncoding: 'view', valueEncoding: 'view' })

const transaction = transactions(db, { retries: 3, sync: true })
const ofUsers = transactions(users)
const classic = transactions(new ClassicLevel('./classic'))
const memory = transactions(new MemoryLevel<number, Date>())

expectType<Transactions<string, number>>()(transaction)
expectType<Transactions<string, User>>()(ofUsers)
expectType<Transactions<string, string>>()(classic)
expectType<Transactions<number, Date>>()(memory)

export async function reads(): Promise<void> {
  const result = await transaction(
    async (tx) => {
      expectType<Transaction<string, number>>()(tx)
      expectType<number | undefined>()(await tx.get('count'))
      expectType<User | undefined>()(await tx.get('ada', { sublevel: users }))
      expectType<Uint8Array | undefined>()(await tx.get(new Uint8Array(1), { sublevel: raw }))
      expectType<string | undefined>()(await tx.get<string, string>('count', { valueEncoding: 'utf8' }))
      expectType<Array<User | undefined>>()(await tx.getMany(['ada'], { sublevel: users }))
      expectType<boolean>()(await tx.has('ada', { sublevel: users }))

      for await (const entry of tx.iterator({ gte: 'a', lt: 'b', reverse: true, limit: 10 })) {
        expectType<[string, number]>()(entry)
      }
      for await (const entry of tx.iterator({ sublevel: users })) expectType<[string, User]>()(entry)
      expectType<string[]>()(await tx.keys({ gt: 'a' }).all())
      expectType<User[]>()(await tx.values({ sublevel: users }).all())
      return 'done' as const
    },
    { retries: 0, signal: AbortSignal.timeout(100), sync: false }
  )
  expectType<'done'>()(result)
}

export async function writes(): Promise<void> {
  await transaction((tx) => {
    tx.put('count', 1)
    tx.put('ada', { visits: 1 }, { sublevel: users, ttlMs: 1000 })
    tx.del('ada', { sublevel: users })
  })
  expectType<boolean>()(await transaction.ifAbsent('a', 1))
  expectType<boolean>()(await ofUsers.ifEquals('ada', { visits: 1 }, undefined, { sync: true }))
  expectType<boolean>()(await transaction.ifEquals('ada', undefined, { visits: 1 }, { sublevel: users }))
  expectType<User | undefined>()(await ofUsers.update('ada', (old) => ({ visits: (old?.visits ?? 0) + 1 })))
  expectType<Date | undefined>()(await memory.update(1, async (old) => old))
}

export async function refused(): Promise<void> {
  // @ts-expect-error: a number is wanted
  await transaction((tx) => tx.put('a', 'b'))
  // @ts-expect-error: a number is wanted
  await transaction(() => {}, { retries: 'many' })
  // @ts-expect-error: the sublevel has other values
  await transaction.ifAbsent('ada', 7, { sublevel: users })
  // @ts-expect-error: the key is a string
  await transaction.update(7, (old) => old)
  // @ts-expect-error: a function is wanted
  await classic('a')
  // @ts-expect-error: a key is a string
  await transaction((tx) => tx.keys({ gt: 7 }).all())
  // @ts-expect-error: a key of the sublevel is a string
  await transaction((tx) => tx.get(7, { sublevel: users }))
}
