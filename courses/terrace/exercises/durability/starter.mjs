import { createInterface } from 'node:readline'
import { Level } from 'terrace'

const db = new Level('notebook')

for await (const line of createInterface({ input: process.stdin })) {
  const [kind, key, value] = line.split(' ')
  console.log(kind, key, value)
}

await db.close()
