// What the program shows during a long copy: on a terminal, in a pipe, and when it is stopped.
//
// In the full form only: the program reports its progress every few seconds of real time.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { MemoryLevel } from 'memory-level'
import { Level } from 'terrace'
import { createServer } from 'terrace-net/server'
import { skipWithoutTerminal } from '../../../tests/support/terminal.mjs'
import { directory } from './support/directory.js'
import { all, fill, numbered } from './support/entries.js'
import { program, run, start } from './support/program.js'

const COUNT = 3000
/** A copy takes 60 of them: over 5 s, after which a line follows one that a slow opening has shown. */
const BATCH_DELAY_MS = 120

/** The arguments of a copy into a database that takes its time for each batch until `hurry` is called, and both databases. */
async function slowly(t) {
  let delayMs = BATCH_DELAY_MS
  const hurry = () => {
    delayMs = 0
  }
  class Slow extends MemoryLevel {
    async _batch(...args) {
      await new Promise((resolve) => setTimeout(resolve, delayMs))
      return super._batch(...args)
    }
  }
  const to = new Slow()
  const path = join(directory(t), 'from')
  const from = new Level(path)
  t.after(() => from.close())
  await fill(from, numbered(COUNT))
  const server = createServer(to)
  t.after(() => server.close())
  const address = await server.listen('tcp://127.0.0.1:0')
  return { from, to, hurry, args: [path, address, '--batch-size', '50'] }
}

/** Waits until a condition holds after output of a stream, or until the stream ends. */
function heard(stream, isMet) {
  return new Promise((resolve) => {
    stream.on('data', () => isMet() && resolve()).on('end', resolve)
  })
}

test('in a pipe: a line from time to time, without anything for terminals', async (t) => {
  const { args, hurry } = await slowly(t)
  const { child, closed, output } = start(t, args)
  await heard(child.stderr, () => /^copying/m.test(output.err))
  hurry()
  assert.equal(await closed, 0)
  const { out, err } = output
  assert.match(out, /^3,000 entries .* verified\n$/)
  // Databases that open slowly are reported first.
  assert.match(err, /^(opening .*\n)*copying [\d,]+ entries, [\d.]+ MB/)
  assert.ok(err.endsWith('\n'), err)
  assert.ok(!err.includes('\r') && !err.includes('\x1b'), err)
})

test('on a terminal: one line that is redrawn, and gone in the end', {
  skip: skipWithoutTerminal
}, async (t) => {
  const { args, hurry } = await slowly(t)
  const command = [process.execPath, program, ...args].map((each) => `'${each}'`).join(' ')
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    env: { ...process.env, TERM: 'xterm' },
    stdio: ['ignore', 'pipe', 'inherit']
  })
  let shown = ''
  child.stdout.setEncoding('utf8').on('data', (text) => {
    shown += text
  })
  const closed = once(child, 'close')
  await heard(child.stdout, () => shown.split('copying ').length > 3)
  hurry()
  assert.deepEqual(await closed, [0, null])
  const drawn = shown.split('\r\x1b[K')
  assert.equal(drawn[0], '')
  const lines = drawn.slice(1, -1)
  assert.ok(lines.filter((line) => !line.startsWith('opening ')).length > 2, shown)
  for (const line of lines) {
    // Databases that open slowly are reported first.
    assert.match(line, /^(opening|copying|verifying|closing)/)
    assert.ok(line.length < 80 && !line.includes('\n'), line)
  }
  assert.match(drawn.at(-1), /^3,000 entries .* verified\r\n$/)
})

for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143]
]) {
  test(`${signal} stops a copy, which resumes when it is run again`, {
    skip: process.platform === 'win32' && 'a signal ends a program at once, whatever it does'
  }, async (t) => {
    const { from, to, hurry, args } = await slowly(t)
    const { child, closed, output } = start(t, args)
    await heard(child.stderr, () => /^copying/m.test(output.err))
    child.kill(signal)
    assert.equal(await closed, code)
    hurry()
    assert.match(output.err, new RegExp(`terrace-copy: ${signal}: stopping; once more ends at once\n`))
    assert.match(output.err, /terrace-copy: stopped\. The same command resumes the copy\.\n$/)
    assert.equal(output.out, '')

    const { out } = await run(t, [...args, '--json'])
    const { entries, written, resumed } = JSON.parse(out)
    assert.ok(written < entries && resumed)
    assert.deepEqual(await all(to), await all(from))
  })
}

test('a server that goes away in the middle fails the copy, and the next one completes it', async (t) => {
  const { from, to, hurry, args } = await slowly(t)
  const path = join(directory(t), 'options.json')
  writeFileSync(path, '{ "offlineTimeoutMs": 1000 }', { mode: 0o600 })
  const server = createServer(to)
  const address = await server.listen('tcp://127.0.0.1:0')
  const [source] = args
  const again = [source, address, '--batch-size', '50', '--to-options', path]
  const { child, closed, output } = start(t, again)
  await heard(child.stderr, () => /^copying/m.test(output.err))
  await server.close()
  assert.equal(await closed, 3)
  hurry()
  assert.match(output.err, /\nterrace-copy: .*\(NET_[A-Z_]+\)\n$/)
  assert.equal((await run(t, args)).code, 0)
  assert.deepEqual(await all(to), await all(from))
})
