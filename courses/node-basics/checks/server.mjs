/** Learners' servers: how a check starts one, and how it finds out that it listens. */

import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { patienceMs, soon } from './patience.mjs'

/** Between two attempts to connect. */
const PAUSE_MS = 20

/** Another program may take a port before the learner's does. */
const MAX_PORTS = 3

/** The check stops a server much earlier, unless the machine is very slow. */
const TIMEOUT_MS = 60_000

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
 * @param options - As those of `context.start`; `args` are the arguments after the port.
 */
export async function startServer(context, file, { args = [], ...options } = {}) {
  for (let left = MAX_PORTS; ; left--) {
    const port = await context.freePort()
    const program = context.start(file, { timeoutMs: TIMEOUT_MS, ...options, args: [String(port), ...args] })
    program.end()
    const first = await firstConnection(context, program, port)
    if (first) return { program, port, ...first }
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
  for (let waited = 0; !isOver && waited < startPatienceMs(); waited += PAUSE_MS) {
    const since = Date.now()
    const socket = await connection(port).catch(() => undefined)
    if (socket) return { socket, since }
    await delay(PAUSE_MS)
  }
  if (!isOver) {
    context.refuse({
      en: `No program listens on port ${port}. The port is the first argument, process.argv[2].`,
      de: `Am Port ${port} lauscht niemand. Er ist das erste Argument, process.argv[2].`
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
