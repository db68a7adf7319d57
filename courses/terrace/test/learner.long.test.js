// Programs of learners that go wrong, and every chapter by the command run.
//
// In the full form only: it runs every chapter, and waits until programs that never end are stopped, in real time.

import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Learner } from '../../runner/test/support/learner.js'

const course = fileURLToPath(new URL('../', import.meta.url))
const { exercises } = JSON.parse(readFileSync(join(course, 'workshop.json'), 'utf8'))

const learnerOf = (t, env = {}) => new Learner(t, { program: join(course, 'main.mjs'), env })

/** A file of a chapter, such as its solution. */
const part = (chapter, file) => join(course, 'exercises', chapter, file)

/** Verifies a program that goes wrong. */
async function refusal(t, chapter, program, env) {
  const learner = learnerOf(t, env)
  await learner.run('select', chapter)
  learner.write('mine.mjs', program(learner))
  const { code, out, err } = await learner.run('verify', 'mine.mjs')
  assert.deepEqual({ code, err }, { code: 1, err: '' }, out)
  assert.doesNotMatch(out, /node:|support\/|Node\.js v/)
  assert.deepEqual(learner.leftovers, [])
  return { out, learner }
}

const LEVEL = "import { Level } from 'terrace'\n"

test('a module that never returns is told plainly', async (t) => {
  const soon = { TERRACE_WORKSHOP_TIMEOUT_MS: '1500' }
  for (const [chapter, program] of [
    ['hello', `${LEVEL}await new Level(process.argv[2]).open()\nsetInterval(() => {}, 1000)\n`],
    ['hello', 'for (;;);\n'],
    ['open-and-close', 'export default () => new Promise(() => setInterval(() => {}, 1000))\n'],
    ['open-and-close', 'export default () => {\n  for (;;);\n}\n']
  ]) {
    const { out } = await refusal(t, chapter, () => program, soon)
    assert.match(out, /^✗ Not yet\. Your program did not end within 1\.5 s, so it was stopped\./)
  }

  const stuck = `${LEVEL}export default async (directory) => {\n  await new Level(directory).open()\n  await new Promise(() => {})\n}\n`
  const { out } = await refusal(t, 'open-and-close', () => stuck)
  assert.match(out, /^✗ Not yet\. Your function never finished: nothing was left that it could wait for\./)
})

test('a module that throws is shown with its line', async (t) => {
  const program = await refusal(t, 'hello', () => `${LEVEL}\nthrow new Error('no birds')\n`)
  assert.match(program.out, /^✗ Not yet\. Your program ended with exit code 1\.\n\nmine\.mjs:3\n/)
  assert.match(program.out, /Error: no birds\n/)

  const call = await refusal(
    t,
    'counting-by-range',
    () => "export default async (db) => {\n  throw new Error('no birds')\n}\n"
  )
  assert.match(
    call.out,
    /^✗ Not yet\. Your function threw an error\.\n\nError: no birds\n {4}at .*mine\.mjs:2:9\)?\n/
  )
})

test('a write outside of its directory is refused, and told with its path', async (t) => {
  for (const [chapter, wrap] of [
    ['hello', (line) => line],
    ['counting-by-range', (line) => `export default () => ${line}`]
  ]) {
    const pathOf = ({ directory }) => join(directory, 'outside.txt')
    const { out, learner } = await refusal(t, chapter, (each) => {
      const line = wrap(`writeFileSync(${JSON.stringify(pathOf(each))}, 'mine')`)
      return `import { writeFileSync } from 'node:fs'\n\n${line}\n`
    })
    assert.ok(out.startsWith(`✗ Not yet. Your program tried to write to ${pathOf(learner)}.`), out)
    assert.match(out, /mine\.mjs:3:/)
    assert.ok(!existsSync(pathOf(learner)))
  }
})

test('the command run shows what a solution does, in every chapter', async (t) => {
  const learner = learnerOf(t)
  for (const chapter of exercises) {
    await learner.run('select', chapter)
    const { code, out, err } = await learner.run('run', part(chapter, 'solution.mjs'))
    assert.equal(code, 0, `${chapter}: ${out}${err}`)
    assert.notEqual(out, '', chapter)
  }
})
