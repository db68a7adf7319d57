// Programs of learners that go wrong: each is told plainly, and nothing is harmed.
//
// In the full form only: it waits until programs that never end are stopped, in real time.

import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { until } from '../../../tests/support/waiting.mjs'
import { Learner } from './support/learner.js'
import { isRunning } from './support/processes.js'

/** Verifies a program as the solution of an exercise. What never ends is stopped soon. */
async function verdictOn(t, exercise, program, env = {}) {
  const learner = new Learner(t, { env })
  await learner.run('select', exercise)
  learner.write('mine.mjs', program)
  const verdict = await learner.run('verify', 'mine.mjs')
  assert.equal(verdict.code, 1, verdict.out + verdict.err)
  assert.equal(verdict.err, '')
  assert.doesNotMatch(verdict.out, /node:|runner\/(dist|test)|Node\.js v/)
  assert.deepEqual(learner.leftovers, [])
  assert.deepEqual(learner.progress.solved, {})
  return { ...verdict, learner }
}

const soon = { TINY_TIMEOUT_MS: '1500' }

test('a function that throws is shown with its file and line', async (t) => {
  const program =
    'export default function double(number) {\n  return help(number)\n}\n\nfunction help() {\n  throw new TypeError("no help")\n}\n'
  const { out } = await verdictOn(t, 'double', program)
  assert.match(
    out,
    /^✗ Not yet\. Your function threw an error\.\n\nTypeError: no help\n {4}at help \(mine\.mjs:6:9\)\n {4}at double \(mine\.mjs:2:10\)\n\nSeed/
  )
})

test('a cause is shown, and so is what is thrown without being an error', async (t) => {
  const caused = 'export default () => {\n  throw new Error("outer", { cause: new Error("inner") })\n}\n'
  assert.match(
    (await verdictOn(t, 'double', caused)).out,
    /Error: outer\n {4}at .*\n\[cause\]: Error: inner\n/
  )
  assert.match((await verdictOn(t, 'double', 'export default () => { throw 42 }\n')).out, /Thrown: 42\n/)
})

test('a module that throws when it is loaded, or has a wrong line, is shown with the line', async (t) => {
  const throws = await verdictOn(t, 'double', '\nthrow new Error("at once")\n')
  assert.match(
    throws.out,
    /could not be loaded.*\n\nmine\.mjs:2\nthrow new Error\("at once"\)\n\s+\^\n\nError: at once\n/
  )
  const wrong = await verdictOn(t, 'double', 'export default 1\nconst a = = 3\n')
  assert.match(
    wrong.out,
    /could not be loaded.*\n\nmine\.mjs:2\nconst a = = 3\n\s+\^\n\nSyntaxError: .*\n\nSeed/
  )
  const missing = await verdictOn(t, 'double', "import './gone.mjs'\n")
  assert.match(missing.out, /could not be loaded[\s\S]*Cannot find module .*gone\.mjs/)
})

test('an error that nobody waits for is shown with the line', async (t) => {
  const program =
    'export default () => new Promise(() => {\n  setImmediate(() => {\n    null.length\n  })\n})\n'
  assert.match((await verdictOn(t, 'double', program)).out, /or ended by an error\.\n\nmine\.mjs:3\n/)
})

test('a program that throws is shown with its file and line', async (t) => {
  const { out } = await verdictOn(t, 'count', 'console.log("so far")\n\nthrow new Error("here")\n')
  assert.match(
    out,
    /Your program ended with exit code 1\.\n\nmine\.mjs:3\n[\s\S]*Error: here\n {4}at mine\.mjs:3:7\n/
  )
  assert.match(out, /Your program printed:\nso far\n/)
})

test('an endless loop is stopped', async (t) => {
  for (const [exercise, program] of [
    ['double', 'export default () => { for (;;); }\n'],
    ['double', 'for (;;);\n'],
    ['count', 'for (;;);\n'],
    ['count', 'setInterval(() => {}, 1000)\n']
  ]) {
    const { out } = await verdictOn(t, exercise, program, soon)
    assert.match(out, /^✗ Not yet\. Your program did not end within 1\.5 s, so it was stopped\./)
  }
})

test('a promise that nothing can settle is told', async (t) => {
  const { out } = await verdictOn(t, 'double', 'export default () => new Promise(() => {})\n')
  assert.match(out, /Your function never finished/)
  assert.match(
    (await verdictOn(t, 'double', 'await new Promise(() => {})\n')).out,
    /Your function never finished/
  )
})

test('a write outside of the directory is refused, and its path is told', async (t) => {
  for (const write of [
    "writeFileSync(TARGET, 'changed')",
    'rmSync(TARGET)',
    "appendFileSync(TARGET, 'changed')"
  ]) {
    for (const [exercise, wrap] of [
      ['count', (line) => line],
      ['double', (line) => `export default () => ${line}`]
    ]) {
      const outside = join(new Learner(t).directory, 'precious.txt')
      writeFileSync(outside, 'kept')
      const call = write.replace('TARGET', JSON.stringify(outside))
      const program = `import { appendFileSync, rmSync, writeFileSync } from 'node:fs'\n\n${wrap(call)}\n`
      const { out } = await verdictOn(t, exercise, program)
      assert.ok(out.includes(`Your program tried to write to ${outside}.`), out)
      assert.match(out, /mine\.mjs:3:/)
      assert.equal(readFileSync(outside, 'utf8'), 'kept')
    }
  }
})

test('a write outside by a promise or a stream is told as well', async (t) => {
  const outside = JSON.stringify(join(new Learner(t).directory, 'new.txt'))
  for (const [exercise, program] of [
    [
      'double',
      `import { writeFile } from 'node:fs/promises'\nexport default () => writeFile(${outside}, '')\n`
    ],
    ['count', `import { writeFile } from 'node:fs/promises'\nawait writeFile(${outside}, '')\n`],
    ['count', `import { createWriteStream } from 'node:fs'\ncreateWriteStream(${outside}).end('text')\n`]
  ]) {
    const { out } = await verdictOn(t, exercise, program)
    assert.ok(out.includes(`Your program tried to write to ${JSON.parse(outside)}.`), out)
  }
})

test('the learner’s own directory and the progress are kept from the program', async (t) => {
  const learner = new Learner(t)
  await learner.run('select', 'count')
  const targets = [join(learner.directory, 'new.txt'), learner.progressFile]
  for (const target of targets) {
    learner.write(
      'mine.mjs',
      `import { writeFileSync } from 'node:fs'\nwriteFileSync(${JSON.stringify(target)}, '')\n`
    )
    assert.match((await learner.run('verify', 'mine.mjs')).out, /Your program tried to write to /)
  }
  assert.ok(!existsSync(targets[0]))
  assert.equal(learner.progress.selected, 'count')
})

test('another program or a worker is refused unless the check allows it', async (t) => {
  const child = "import { execSync } from 'node:child_process'\nexport default () => execSync('true')\n"
  assert.match((await verdictOn(t, 'double', child)).out, /tried to start another program/)
  const worker = "import { Worker } from 'node:worker_threads'\nnew Worker('', { eval: true })\n"
  assert.match((await verdictOn(t, 'count', worker)).out, /tried to start a worker/)
})

test('output without end is stopped', async (t) => {
  for (const [exercise, program] of [
    ['count', "for (;;) console.log('x'.repeat(10000))\n"],
    ['double', "export default () => { for (;;) console.error('x'.repeat(10000)) }\n"]
  ]) {
    const { out } = await verdictOn(t, exercise, program)
    assert.match(out, /Your program printed more than 1048576 bytes, so it was stopped\./)
    assert.ok(out.length < 300_000)
  }
})

test('a module without the function, or that ends the process, is told', async (t) => {
  const none = await verdictOn(t, 'double', 'export const twice = 2\n')
  assert.match(none.out, /must export a function as default\. It exports: twice\./)
  assert.match(
    (await verdictOn(t, 'record', '\n')).out,
    /must export a function as record\. It exports: nothing\./
  )
  const exits = await verdictOn(t, 'double', 'export default () => process.exit(3)\n')
  assert.match(exits.out, /ended the process, with exit code 3,/)
  const killed = await verdictOn(
    t,
    'count',
    "process.kill(process.pid, 'SIGTERM')\nsetInterval(() => {}, 1000)\n"
  )
  assert.match(killed.out, /was ended by the signal SIGTERM\./)
})

test('what cannot be sent between processes is told', async (t) => {
  const { out } = await verdictOn(t, 'double', 'export default () => () => 1\n')
  assert.match(out, /What your function returned cannot be compared: .*could not be cloned/)
})

const FAMILY = `import { spawn } from 'node:child_process'
const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })
console.log('child ' + child.pid)
`

/** Verifies a program that has a child, and resolves with the child's process. */
async function childOf(t, ending, env) {
  const { out } = await verdictOn(t, 'count', FAMILY + ending, env)
  return /^child (\d+)$/m.exec(out)?.[1]
}

test('what a program has started ends with it', async (t) => {
  const pid = await childOf(t, 'process.exit(1)\n')
  assert.ok(pid !== undefined)
  await until(() => !isRunning(Number(pid)), 'the end of the child')
})

test('what a program has started ends when its time is over', async (t) => {
  let pid
  // A slow machine may need longer until the program has started anything.
  for (const timeoutMs of [1500, 6000, 30_000]) {
    if (pid === undefined) pid = await childOf(t, 'for (;;);\n', { TINY_TIMEOUT_MS: String(timeoutMs) })
  }
  assert.ok(pid !== undefined)
  await until(() => !isRunning(Number(pid)), 'the end of the child')
})

test('a signal to the runner ends the learner’s program and removes its directory', async (t) => {
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143]
  ]) {
    const learner = new Learner(t)
    await learner.run('select', 'count')
    learner.write('mine.mjs', `${FAMILY}console.log('self ' + process.pid)\nsetInterval(() => {}, 1000)\n`)
    const { child, output, closed } = learner.start('run', 'mine.mjs')
    await until(() => /self \d+\n/.test(output.out), 'the program to run')
    child.kill(signal)
    assert.equal(await closed, code)
    for (const [, pid] of output.out.matchAll(/ (\d+)$/gm)) {
      await until(() => !isRunning(Number(pid)), 'the end of the process')
    }
    assert.deepEqual(learner.leftovers, [])
  }
})

test('a server that crashes while the check talks to it is told with its error', async (t) => {
  const program = `import { createServer } from 'node:http'
const server = createServer(() => { throw new Error('cannot answer') })
server.listen(Number(process.argv[2]), '127.0.0.1', () => console.log('ready'))
`
  const { out } = await verdictOn(t, 'serve', program)
  assert.match(out, /ended with exit code 1\.[\s\S]*Error: cannot answer\n {4}at .*mine\.mjs:2/)
  const silent = await verdictOn(t, 'serve', "console.log('nothing')\n")
  assert.match(silent.out, /It ended without printing ready\./)
  const broken = await verdictOn(t, 'serve', "throw new Error('at once')\n")
  assert.match(
    broken.out,
    /It ended without printing ready\. Your program ended with exit code 1\.\n[\s\S]*Error: at once/
  )
  const deaf = await verdictOn(t, 'serve', "console.log('ready')\nsetInterval(() => {}, 1000)\n")
  assert.match(deaf.out, /could not talk to your program to the end\.\n\nfetch failed: .*ECONNREFUSED/)
})

test('what the function did is compared, not only what it returned', async (t) => {
  const program =
    'export async function record(store, words) {\n  for (const word of new Set(words.reverse())) await store.put(word)\n}\n'
  const { out } = await verdictOn(t, 'record', program)
  assert.match(
    out,
    /The store was used differently\.\n\nThe first difference is in line \d+:\nexpected:\n[\s\S]*\nyours:\n/
  )
})

test('run tells of failures in the same words', async (t) => {
  const learner = new Learner(t)
  await learner.run('select', 'double')
  learner.write('double.mjs', 'export default () => { throw new Error("no") }\n')
  const threw = await learner.run('run')
  assert.equal(threw.code, 1)
  assert.match(threw.out, /Your function threw an error\.\n\nError: no\n {4}at .*double\.mjs:1:/)
  await learner.run('select', 'count')
  learner.write('count.mjs', 'console.log("begins")\nfor (;;);\n')
  Object.assign(learner.env, soon)
  const endless = await learner.run('run')
  assert.equal(endless.code, 1)
  assert.match(endless.err, /did not end within 1\.5 s/)
})
