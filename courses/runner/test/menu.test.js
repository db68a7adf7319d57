// The menu, in a terminal that `script` of util-linux makes.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { skipWithoutTerminal as skip } from '../../../tests/support/terminal.mjs'
import { until } from '../../../tests/support/waiting.mjs'
import { Learner } from './support/learner.js'

/** Opens the menu, types keys after it is there, and resolves with everything that was shown. */
async function menu(t, learner, keys) {
  const quote = (word) => `'${word.replaceAll("'", "'\\''")}'`
  const command = [process.execPath, learner.program].map(quote).join(' ')
  const child = spawn('script', ['--quiet', '--return', '--command', command, '/dev/null'], {
    cwd: learner.directory,
    // Only this: a dozen variables of others change colours (`CI`, `FORCE_COLOR`, `NO_COLOR`, `TMUX` …).
    env: { PATH: process.env.PATH, ...learner.variables, TERM: 'xterm-256color' },
    stdio: ['pipe', 'pipe', 'inherit']
  })
  t.after(() => child.kill('SIGKILL'))
  let shown = ''
  child.stdout.setEncoding('utf8').on('data', (text) => {
    shown += text
  })
  const closed = once(child, 'close')
  await until(() => shown.includes('(record)'), 'the menu')
  for (const key of keys) {
    const before = shown.length
    child.stdin.write(key)
    if (key !== keys.at(-1)) await until(() => shown.length > before, 'the menu, drawn again')
  }
  const [code] = await closed
  assert.equal(code, 0, shown)
  return shown
}

test('arrow keys choose an exercise, and Enter selects it', { skip }, async (t) => {
  const learner = new Learner(t)
  const shown = await menu(t, learner, ['\x1b[B', '\x1b[B', '\x1b[A', '\r'])
  assert.match(shown, /A tiny workshop[\s\S]*Print how many lines[\s\S]*count\.mjs/)
  assert.equal(learner.progress.selected, 'count')
  assert.ok(learner.has('count.mjs'))
})

test('up from the first exercise leads to the last one', { skip }, async (t) => {
  const learner = new Learner(t)
  await menu(t, learner, ['\x1b[A', '\r'])
  assert.equal(learner.progress.selected, 'record')
})

test('a number chooses an exercise, and the menu begins at the selected one', { skip }, async (t) => {
  const learner = new Learner(t)
  await menu(t, learner, ['4', '\r'])
  assert.equal(learner.progress.selected, 'serve')
  await menu(t, learner, ['\x1b[B', '\r'])
  assert.equal(learner.progress.selected, 'record')
})

test('q, Escape and Ctrl+C end the menu, and select nothing', { skip }, async (t) => {
  const learner = new Learner(t)
  for (const key of ['q', '\x1b', '\x03']) {
    await menu(t, learner, ['2', key])
    assert.equal((await learner.run('status')).out, '0 of 5 solved. Selected: none.\n')
  }
})

test('a terminal gets colours, and a problem its forms', { skip }, async (t) => {
  const learner = new Learner(t)
  const shown = await menu(t, learner, ['\r'])
  assert.ok(shown.includes('\x1b[1mDouble\x1b[22m'))
  assert.ok(shown.includes('\x1b[36mdouble(2)\x1b[39m'))
  assert.ok(shown.includes('\x1b[2m    export default (number) => 0\x1b[22m'))
})
