import { once } from 'node:events'
import { Level } from 'terrace'
import { NetLevel } from 'terrace-net'
import { createServer } from 'terrace-net/server'

const address = process.argv[2]
if (address === undefined) await serve()
else await show(address)

async function serve() {
  const db = new Level('birds')
  await db.open()

  console.log('nowhere yet')

  process.stdin.resume()
  await once(process.stdin, 'end')
  await db.close()
}

async function show(address) {
  console.log('nothing from', address)
}
