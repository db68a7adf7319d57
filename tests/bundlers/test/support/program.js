// A program that uses all three packages, written in the terms of its loader.

/** The output of the program. */
export const OUTPUT = 'b 2\n2 [ [ 7 ], [ 10 ] ]\ntrue\n'

/** With `import` statements, which TypeScript and bundlers translate; `types` follow `Level` in TypeScript. */
export const program = (types = '') => `
import { Level } from 'terrace'
import { bytewise, upper } from 'terrace-bytewise'
import { index } from 'terrace-toolbox/index'

async function main() {
  const db = new Level${types}('db', { valueEncoding: 'json' })
  await db.batch([{ type: 'put', key: 'a', value: { n: 1 } }, { type: 'put', key: 'b', value: { n: 2 } }])
  for await (const [key, value] of db.iterator({ gt: 'a' })) console.log(key, value.n)

  const byNumber = index(db, { name: 'number', on: 'n' })
  const found = []
  for await (const key of byNumber.keys({ gt: 0 })) found.push(key)
  const numbers = db.sublevel${types === '' ? '' : '<number[], string>'}('numbers', { keyEncoding: bytewise, valueEncoding: 'utf8' })
  await numbers.put([10], '')
  await numbers.put([7], '')
  console.log(found.length, await numbers.keys({ lt: upper([10]) }).all())

  const message = await new Level${types}('db').open().catch((error) => error.cause.code)
  console.log(message === 'LEVEL_LOCKED')
  await db.close()
}

main()
`
