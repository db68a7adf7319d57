// The processes of a measurement.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Starts one of the programs of this directory. */
export function start(file, args) {
  const path = fileURLToPath(new URL(file, import.meta.url))
  return fork(path, args.map(String), { execArgv: ['--expose-gc'] })
}

/** The next message of a process. Fails if it ends instead. */
export async function message(child) {
  const listening = new AbortController()
  const { signal } = listening
  const ended = once(child, 'exit', { signal }).then(([code]) => {
    throw new Error(`${child.spawnargs.slice(2).join(' ')} ended with ${code}`)
  })
  try {
    const [first] = await Promise.race([once(child, 'message', { signal }), ended])
    return first
  } finally {
    listening.abort()
  }
}

/** Collects what a process tells until it ends. */
export async function messages(child) {
  const all = []
  child.on('message', (each) => all.push(each))
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`${child.spawnargs.slice(2).join(' ')} ended with ${code}`)
  return all
}

export async function stop(child) {
  if (child.exitCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

/** Calls `work` with a directory that is removed afterwards. */
export async function withDirectory(work) {
  const directory = mkdtempSync(join(tmpdir(), 'terrace-net-bench-'))
  try {
    return await work(directory)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** Serves a target in a separate process while `work` runs. */
export function withServer(target, transport, entries, work) {
  return withDirectory(async (directory) => {
    const address = transport === 'unix' ? `unix:${join(directory, 'socket')}` : 'tcp://127.0.0.1:0'
    const server = start('server.js', [target, join(directory, 'db'), address, entries])
    try {
      return await work((await message(server)).address, server)
    } finally {
      await stop(server)
    }
  })
}

/** How much memory a server has after a garbage collection. */
export async function memoryOf(server) {
  server.send('memory')
  return message(server)
}
