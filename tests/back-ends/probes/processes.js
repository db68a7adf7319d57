// Probes of processes: what survives when one is killed, and what two can do at once.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const PEER = fileURLToPath(new URL('peer.js', import.meta.url))
/** What a process has time for to answer. */
const PATIENCE_MS = 60_000

/** Whether a put that was acknowledged in a process that is then killed is there. */
export async function killed(target, location, writeOptions) {
  const peer = start({ role: 'write and be killed', location, writeOptions })
  await once(peer, 'exit')
  if (peer.signalCode !== 'SIGKILL')
    throw new Error(`the process ended with ${peer.exitCode} before it was killed`)
  const db = target.make(location)
  await db.open()
  try {
    return (await db.get('acknowledged')) === 'v'
  } finally {
    await db.close()
  }
}

/**
 * What a second process can do while this one uses the database, and what this one can do afterwards. Each is `true` or the
 * code of an error.
 */
export async function together(target, location, options, otherOptions = options) {
  const db = target.make(location, options)
  await db.open()
  try {
    await db.put('first', 'v')
    const peer = start({ role: 'use beside', location, address: db.address, options: otherOptions })
    const [second] = await Promise.race([once(peer, 'message'), once(peer, 'exit').then(ended)])
    const first = {
      writes: await outcome(() => db.put('again', 'v')),
      readsTheirs: second.writes === true && (await outcome(async () => (await db.get('second')) === 'v'))
    }
    if (peer.connected) peer.send('end')
    if (peer.exitCode === null) await once(peer, 'exit')
    return { second, first }
  } finally {
    await db.close().catch(() => {})
  }
}

function ended([code, signal]) {
  throw new Error(`the process ended with ${signal ?? code} before it had an answer`)
}

function start(message) {
  const peer = fork(PEER, { timeout: PATIENCE_MS })
  peer.send(message)
  return peer
}

/** What a call returns, or the code of its error. */
export async function outcome(call) {
  try {
    return (await call()) ?? true
  } catch (error) {
    return error.cause?.code ?? error.code ?? error.message
  }
}
