// Your program waits for the disk where it need not
import { createInterface } from 'node:readline'
import { Level } from 'terrace'

const db = new Level('notebook')

for await (const line of createInterface({ input: process.stdin })) {
  const [kind, key, value] = line.split(' ')
  await db.put(key, value, { sync: kind !== '' })
  console.log(`saved ${key}`)
}

await db.close()
