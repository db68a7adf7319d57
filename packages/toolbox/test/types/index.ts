// Checked by the compiler, not run: terrace-toolbox/index as a user would use it.

import { ClassicLevel } from 'classic-level'
import { MemoryLevel } from 'memory-level'
import { Level } from 'terrace'
import {
  type IndexError,
  type IndexOptions,
  type IndexReport,
  index,
  type SecondaryIndex,
  type UniqueError
} from 'terrace-toolbox/index'

interface User {
  email?: string
  tags: string[]
}

const db = new Level('directory')
const users = db.sublevel<number, User>('users', { valueEncoding: 'json' })

const byEmail: SecondaryIndex<number, User> = index(users, { name: 'email', on: 'email', unique: true })
index(users, { name: 'tags', on: (user) => user.tags, multiple: true, version: 2 })
index(users, { name: 'both', on: (user, key) => [user.email, key + 1] })
index(users, { name: 'paths', on: ['email', 'tags'] as const, wait: false })
index(new MemoryLevel<string, User>({ valueEncoding: 'json' }), {
  name: 'email',
  on: ({ email }) => email,
  onProgress: ({ records, entries }) => records + entries
})

index(new ClassicLevel<string, User>('directory', { valueEncoding: 'json' }), { name: 'email', on: 'email' })
index(new Level<Buffer, User>('directory', { valueEncoding: 'json' }), { name: 'email', on: 'email' })
index(new MemoryLevel().sublevel<string, User>('users', { valueEncoding: 'json' }), {
  name: 'email',
  on: 'email'
})
index(db, { name: 'text', on: (text) => text.length })

const options: IndexOptions<number, User> = { name: 'email', on: 'email' }
index(users, options)

const user: User | undefined = await byEmail.get('a@x')
const key: number | undefined = await byEmail.getKey('a@x')
for await (const [key, user, indexed] of byEmail.entries({ gte: 'a', lt: 'b', reverse: true, limit: 10 })) {
  const record: [number, User, unknown] = [key, user, indexed]
  console.log(record)
}
for await (const key of byEmail.keys({ prefix: ['CH'] })) key.toFixed()
for await (const { tags } of byEmail.values({ equals: new Date() })) tags.length

const report: IndexReport = await byEmail.verify()
console.log(report.missing + report.stale + report.wrong, user?.tags, key?.toFixed())
await byEmail.ready
await byEmail.rebuild()
await byEmail.drop()

const error = new Error() as IndexError | UniqueError
if (error.code === 'TOOLBOX_UNIQUE') console.log((error as UniqueError).refusedKey)

// @ts-expect-error: the name is missing
index(users, { on: 'email' })
// @ts-expect-error: no such option
byEmail.keys({ from: 1 })
// @ts-expect-error: users have no such property
index(users, { name: 'x', on: (user) => user.name })
// @ts-expect-error: indexes are made by index()
new SecondaryIndex(users, options)
