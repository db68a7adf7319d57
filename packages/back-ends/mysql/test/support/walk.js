// A process that walks over all of a database and clears it, and prints by how much its memory has grown.
//
//   walk.js URL NAME

import { MysqlLevel } from 'terrace-mysql'
import { HANG_MS } from '../../../../../tests/support/waiting.mjs'

const [url, name] = process.argv.slice(2)
const db = new MysqlLevel(url, { name, deadlineMs: HANG_MS })
await db.open()
await db.get('none')

async function count(iterator) {
  let found = 0
  for await (const _ of iterator) found++
  return found
}

const { rss } = process.memoryUsage()
const walks = {
  entries: await count(db.iterator()),
  reversed: await count(db.iterator({ reverse: true })),
  keys: await count(db.keys())
}
await db.clear()
const left = await count(db.keys())
// The most that it has been is in KiB.
const grownBytes = process.resourceUsage().maxRSS * 1024 - rss
console.log(JSON.stringify({ walks, left, grownBytes }))
await db.close()
