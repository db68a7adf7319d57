// A process that shares a database. It writes entries one after the other, and reports each acknowledged one to its parent. It
// watches the database meanwhile: it must receive its own writes, unless watch() reports that it has missed some.
//
//   node sharing-process.js LOCATION NAME
//
// Lines on standard output: `open`, `owner` when it owns the database, `done KEY`, `unknown KEY`, `failed KEY CODE`, `missed`, `blocked`,
// and `unheard COUNT` at the end. Commands on standard input: `stop` closes the database, `block` keeps the event loop from turning.

import { writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setImmediate as turn } from 'node:timers/promises'
import { Level } from 'terrace'
import { HANG_MS } from '../../../../tests/support/waiting.mjs'

const [location, name] = process.argv.slice(2)
const db = new Level(location, { shared: true, ownerTimeoutMs: HANG_MS })
let isStopped = false

createInterface({ input: process.stdin }).on('line', (line) => {
  if (line === 'stop') isStopped = true
  if (line === 'block') {
    writeSync(1, 'blocked\n')
    for (;;);
  }
})

await db.open()
console.log('open')

/** Writes that were acknowledged but not received yet, and those that were received before they were acknowledged. */
const awaited = new Set()
const early = new Set()
/** Counts the calls of watch(). Each receives the writes that are called after it. */
let watches = 0
let whenHeard

async function watch() {
  for (;;) {
    const writes = db.watch({ gte: `${name}-`, lt: `${name}.` })
    watches++
    try {
      for await (const operations of writes) {
        for (const { key } of operations) if (!awaited.delete(key)) early.add(key)
        if (isStopped && awaited.size === 0) whenHeard?.()
      }
      return
    } catch ({ code }) {
      if (code !== 'NET_MISSED') throw new Error(code)
      console.log('missed')
      awaited.clear()
      early.clear()
      whenHeard?.()
    }
  }
}

const watching = watch()
let wasOwner = false
for (let n = 0; !isStopped; n++) {
  if (db.isOwner && !wasOwner) {
    wasOwner = true
    console.log('owner')
  }

  const key = `${name}-${n}`
  const before = watches
  try {
    await db.put(key, key)
    if (before === watches && !early.delete(key)) awaited.add(key)
    console.log(`done ${key}`)
  } catch ({ code }) {
    console.log(code === 'NET_WRITE_UNKNOWN' ? `unknown ${key}` : `failed ${key} ${code}`)
  }
  await turn()
}

if (awaited.size > 0) {
  await new Promise((resolve) => {
    whenHeard = resolve
    setTimeout(resolve, HANG_MS).unref()
  })
}
console.log(`unheard ${awaited.size}`)
await db.close()
await watching
process.exit()
