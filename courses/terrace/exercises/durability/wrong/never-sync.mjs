// a loss of power may take it
import { createInterface } from 'node:readline'
import { Level } from 'terrace'

const db = new Level('notebook')

for await (const line of createInterface({ input: process.stdin })) {
  const [, key, value] = line.split(' ')
  await db.put(key, value)
  console.log(`saved ${key}`)
}

await db.close()
