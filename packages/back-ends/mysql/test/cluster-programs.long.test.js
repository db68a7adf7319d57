// Servers for tests end with the program that started them, however it ends, and no other program can reach them. Long, because
// each test starts a separate server.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { HANG_MS } from '../../../../tests/support/waiting.mjs'
import { serverMissing, startServer } from './cluster/index.js'
import { until } from './cluster/waiting.js'

const skip = serverMissing()

/** A program that has started a server, and the server's process and directory. */
async function programWithServer(t) {
  const path = fileURLToPath(new URL('cluster/main.js', import.meta.url))
  const program = spawn(process.execPath, [path, '--single'], { stdio: ['ignore', 'pipe', 'ignore'] })
  t.after(() => program.kill('SIGKILL'))
  const [line] = await once(createInterface({ input: program.stdout }), 'line')
  const [, , pid, directory] = line.split('\t')
  return { program, pid: Number(pid.replace('process ', '')), directory }
}

/** Whether a process is alive. An ended one may be listed until its parent collects the exit code. */
function isAlive(pid) {
  try {
    return !/^State:\s*[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

const gone = (pid) => until('the server is gone', HANG_MS, async () => (isAlive(pid) ? undefined : true))

test('a signal to the program ends its server and removes the data', { skip }, async (t) => {
  const { program, pid, directory } = await programWithServer(t)
  assert.ok(isAlive(pid))
  const exit = once(program, 'exit')
  // Ctrl-C twice in quick succession.
  program.kill('SIGINT')
  program.kill('SIGINT')
  assert.deepEqual(await exit, [130, null])
  await gone(pid)
  assert.equal(existsSync(directory), false)
})

test('the death of the program ends its server', { skip }, async (t) => {
  const { program, pid, directory } = await programWithServer(t)
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  program.kill('SIGKILL')
  await gone(pid)
})

test('a server is reached through 127.0.0.1 alone, keeps its data over a kill, and leaves nothing', {
  skip
}, async () => {
  const server = await startServer()
  try {
    const listening = readFileSync('/proc/net/tcp', 'utf8') + readFileSync('/proc/net/tcp6', 'utf8')
    const port = server.port.toString(16).toUpperCase().padStart(4, '0')
    const addresses = [...listening.matchAll(new RegExp(`: ([0-9A-F]+):${port} [0-9A-F]+:0000 0A`, 'g'))]
    assert.deepEqual(
      addresses.map(([, address]) => address),
      ['0100007F']
    )
    await server.query('CREATE TABLE terrace.t (v INT)')
    await server.query('INSERT INTO terrace.t VALUES (7)')
    await server.kill()
    assert.equal(server.isRunning, false)
    await server.start()
    assert.deepEqual(await server.query('SELECT v FROM terrace.t'), [{ v: 7 }])
  } finally {
    await server.stop()
  }
  assert.equal(existsSync(server.directory), false)
})
