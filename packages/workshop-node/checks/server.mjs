/** Learners' servers: how a check starts one, and how it finds out that it listens. */

import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { patienceMs, soon } from './patience.mjs'

/** Between two attempts to connect. */
const PAUSE_MS = 20

/** Another program may take a port before the learner's does. */
const MAX_PORTS = 3

/** Node has to load the program and what it imports first. */
const startPatienceMs = () => 2 * patienceMs()

/**
 * Starts a program that listens on a port, and connects to it.
 *
 * Refuses a program that does not listen. Resolves with `{ program, port, socket, since }`: the running program, its port, the first
 * connection, and when the check began to connect.
 *
 * @param context - The context of the check.
 * @param file - The path of the program.
 * @param options - As those of `context.start`, without `args`.
 * @param args - The arguments after the port.
 */
export async function startServer(context, file, { args = [], ...options } = {}) {
  for (let left = MAX_PORTS; ; left--) {
    const port = await context.freePort()
    const program = context.start(file, { ...options, args: [String(port), ...args] })
    program.end()
    const connection = await firstConnection(context, program, port)
    if (connection) return { program, port, ...connection }
    const { code, stderr } = await program.result
    if (left > 1 && stderr.includes('EADDRINUSE')) continue
    if (code !== 0) throw new Error(stderr)
    context.refuse({
      en: 'Your program ended instead of waiting for connections. Does it call listen?',
      de: 'Dein Programm endete, statt auf Verbindungen zu warten. Ruft es listen auf?'
    })
  }
}

/** Resolves with nothing if the program has ended before. */
async function firstConnection(context, { result }, port) {
  let isOver = false
  result.then(() => {
    isOver = true
  })
  const end = Date.now() + startPatienceMs()
  while (!isOver && Date.now() < end) {
    const since = Date.now()
    const socket = await connection(port).catch(() => undefined)
    if (socket) return { socket, since }
    await delay(PAUSE_MS)
  }
  if (!isOver) {
    context.refuse({
      en: `Nobody listens on port ${port}, although it is the first argument, process.argv[2].`,
      de: `Auf dem Port ${port} hört niemand, obwohl er das erste Argument ist, process.argv[2].`
    })
  }
}

/** Connects to a port of this machine. */
export async function connection(port) {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  return socket
}

/**
 * Talks to a learner's server by `action`. If that fails because the server has failed, and in a usual way, the program is refused with
 * the explanation, to which the runner adds the error itself.
 *
 * @param failures - Pairs of a pattern of what the program wrote to its error output, and a message.
 */
export async function talk({ refuse }, program, failures, action) {
  try {
    return await action()
  } catch (error) {
    // A refusal has no code, a broken connection has one.
    if (error.code === undefined) throw error
    // What the program has written may still be on its way.
    await soon(program.result)
    const usual = failures.find(([pattern]) => pattern.test(program.stderr))
    if (usual) refuse(usual[1])
    throw error
  }
}
