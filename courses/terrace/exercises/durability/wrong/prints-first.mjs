// Print only after the write has returned
import { createInterface } from 'node:readline'
import { Level } from 'terrace'

const db = new Level('notebook')

for await (const line of createInterface({ input: process.stdin })) {
  const [kind, key, value] = line.split(' ')
  console.log(`saved ${key}`)
  await db.put(key, value, { sync: kind === 'sync' })
}

await db.close()
