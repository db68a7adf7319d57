// The second process of a probe. It uses the database of the target that TERRACE_TARGET names.

import { targetNamed } from '../targets.js'
import { outcome } from './processes.js'

const target = targetNamed(process.env.TERRACE_TARGET)

process.once('message', async (message) => {
  if (message.role === 'write and be killed') await writeAndBeKilled(message)
  else await useBeside(message)
})

async function writeAndBeKilled({ location, writeOptions }) {
  const db = target.make(location)
  await db.open()
  await db.put('acknowledged', 'v', writeOptions)
  process.kill(process.pid, 'SIGKILL')
}

async function useBeside({ location, address, options }) {
  const db = target.join?.({ address }) ?? target.make(location, options)
  const opens = await outcome(() => db.open())
  const answer = { opens, reads: false, writes: false }
  if (opens === true) {
    answer.reads = await outcome(async () => (await db.get('first')) === 'v')
    answer.writes = await outcome(() => db.put('second', 'v'))
  }
  process.send(answer)
  process.once('message', async () => {
    await db.close().catch(() => {})
    process.exit()
  })
}
