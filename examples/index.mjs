// Secondary indexes: several on users, queries, a unique value, an index that is added later, and one that is repaired.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Level } from 'terrace'
import { index } from 'terrace-toolbox/index'

const directory = mkdtempSync(join(tmpdir(), 'terrace-example-'))
const db = new Level(join(directory, 'db'))
const users = db.sublevel('users', { valueEncoding: 'json' })

const byEmail = index(users, { name: 'email', on: ({ email }) => email?.toLowerCase(), unique: true })
const byPlace = index(users, { name: 'place', on: ['address.country', 'address.city'] })
const byTag = index(users, { name: 'tag', on: 'tags', multiple: true })

await users.batch([
  { type: 'put', key: '1', value: user('Ada', 'UK', 'London', ['maths', 'poetry']) },
  { type: 'put', key: '2', value: user('Grace', 'US', 'New York', ['compilers']) },
  { type: 'put', key: '3', value: user('Emmy', 'US', 'Bryn Mawr', ['maths']) }
])

console.log('By e-mail address:', (await byEmail.get('grace@example.org')).name)
for await (const { name } of byTag.values({ equals: 'maths' })) console.log('Tagged maths:', name)
for await (const [key, { name }, place] of byPlace.entries({ prefix: ['US'] })) {
  console.log('In the US:', key, name, place)
}

// If another record has the value, the whole write is refused.
try {
  await users.put('4', { email: 'ADA@example.org' })
} catch ({ cause }) {
  console.log(`${cause.code}: ${cause.message}`)
}

// Changes update the entries as well.
await users.put('1', user('Ada', 'IT', 'Turin', []))
for await (const { name } of byTag.values({ equals: 'maths' })) console.log('Still tagged maths:', name)

// An index that is declared later is built in the background.
const byName = index(users, {
  name: 'name',
  on: 'name',
  onProgress: (step) => console.log('Building:', step)
})
await byName.ready
for await (const key of byName.keys({ gte: 'E', reverse: true })) console.log('Names from E on:', key)

// A write that bypassed the index is found, and the index is repaired.
await db.del('!users!2')
console.log('verify():', await byName.verify())
await byName.rebuild()
console.log('after rebuild():', await byName.verify())

await db.close()
rmSync(directory, { recursive: true })

function user(name, country, city, tags) {
  return { name, email: `${name}@example.org`, address: { country, city }, tags }
}
