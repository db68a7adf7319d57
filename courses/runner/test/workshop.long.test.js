// A learner's way through a workshop, by its program: what is less common.
//
// In the full form only: each test runs the program many times.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { Learner, tiny } from './support/learner.js'

const solution = (exercise) => join(tiny, 'exercises', exercise, 'solution.mjs')

test('a solved exercise stays solved when it is selected and refused later', async (t) => {
  const learner = new Learner(t)
  await learner.run('select', 'double')
  await learner.run('verify', solution('double'))
  const { solved } = learner.progress
  assert.match((await learner.run('select', 'double')).out, /You have solved this exercise already\./)
  assert.equal((await learner.run('verify')).code, 1)
  assert.deepEqual(learner.progress.solved, solved)
})

test('hints one by one, then from the first again', async (t) => {
  const learner = new Learner(t)
  await learner.run('select', 'double')
  assert.equal((await learner.run('hint')).out, 'Hint 1 of 2\nMultiply.\n')
  assert.equal((await learner.run('hint')).out, 'Hint 2 of 2\nMultiply by 2.\n\nThat was the last hint.\n')
  assert.match((await learner.run('hint')).out, /^Hint 1 of 2\n/)
  await learner.run('select', 'count')
  assert.equal((await learner.run('hint')).out, 'This exercise has no hint.\n')
})

test('the solution after the exercise is solved, or anyway', async (t) => {
  const learner = new Learner(t)
  await learner.run('select', 'double')
  const early = await learner.run('solution')
  assert.equal(early.code, 1)
  assert.doesNotMatch(early.out, /number \* 2/)
  assert.match((await learner.run('solution', '--anyway')).out, /^solution\.mjs\n[\s\S]*number \* 2/)
  await learner.run('verify', solution('double'))
  assert.match((await learner.run('solution')).out, /number \* 2/)
  await learner.run('select', 'save')
  assert.match(
    (await learner.run('solution', '--anyway')).out,
    /^solution\/index\.mjs\n[\s\S]*^solution\/text\.mjs\n/m
  )
})

test('run shows what a function returns, what a program prints, and which files it writes', async (t) => {
  const learner = new Learner(t)
  await learner.run('select', 'double')
  learner.write(
    'double.mjs',
    'export default (number) => {\n  console.log("called")\n  return { number }\n}\n'
  )
  assert.equal((await learner.run('run')).out, 'called\nYour function returned:\n{ number: 21 }\n')
  await learner.run('select', 'count')
  assert.equal((await learner.run('run', solution('count'))).out, '2\n')
  await learner.run('select', 'save')
  const saves = await learner.run('run', join(tiny, 'exercises/save/solution'))
  assert.equal(saves.out, 'It wrote:\n  out.txt (10 bytes)\n')
  const other = await learner.run('run', join(tiny, 'exercises/save/solution'), 'abc')
  assert.equal(other.out, 'It wrote:\n  out.txt (3 bytes)\n')
  assert.deepEqual(learner.leftovers, [])
})

test('German, chosen, from the environment, and for one run', async (t) => {
  const learner = new Learner(t)
  assert.match((await learner.run('language')).out, /^Languages: en, de\. Current: en\.\n/)
  assert.equal((await learner.run('language', 'de')).out, 'Die Sprache ist jetzt de.\n')
  assert.match((await learner.run('select', 'double')).out, /^Verdoppeln\n[\s\S]*Deine Vorlage: double\.mjs/)
  assert.match((await learner.run('verify')).out, /^✗ Noch nicht\. double\(\d+\) ist falsch\.\n\nerwartet: /)
  assert.match((await learner.run('hint')).out, /^Hinweis 1 von 2\nMultipliziere\.\n/)
  assert.match((await learner.run('print', '--language', 'en')).out, /^Double\n/)
  assert.match((await learner.run('list')).out, /^Ein winziger Workshop\n/)
  assert.match((await learner.run('help')).out, /^Aufruf: /)

  const german = new Learner(t, { env: { LANG: 'de_DE.UTF-8' } })
  assert.match((await german.run()).out, /^Ein winziger Workshop\n/)
  const unknown = await german.run('language', 'fr')
  assert.deepEqual(
    [unknown.code, unknown.err],
    [2, 'Die Sprache „fr“ gibt es nicht. Verfügbar sind: en, de.\n']
  )
})

test('wrong commands are told plainly, with exit code 2', async (t) => {
  const learner = new Learner(t)
  for (const [args, message] of [
    [['verify'], 'No exercise is selected.'],
    [['hint'], 'No exercise is selected.'],
    [['select'], 'Which one?'],
    [['select', 'triple'], "There is no exercise 'triple'."],
    [['select', '6'], "There is no exercise '6'."],
    [['dance'], "There is no command 'dance'."],
    [['toString'], "There is no command 'toString'."],
    [['list', 'all'], "'all' is one argument too many."],
    [['--unknown'], "Unknown option '--unknown'"],
    [['list', '--language', 'fr'], "There is no language 'fr'."]
  ]) {
    const { code, out, err } = await learner.run(...args)
    assert.deepEqual([code, out], [2, ''], args.join(' '))
    assert.ok(err.startsWith(message), err)
  }

  await learner.run('select', 'double')
  for (const [args, message] of [
    [['verify', 'gone.mjs'], 'gone.mjs does not exist.'],
    [['verify', '.'], '. is a directory without a file named index'],
    [['verify', '--seed', '-1'], "Option '--seed' argument is ambiguous"],
    [['verify', '--seed', 'x'], '--seed must be a whole number']
  ]) {
    const { code, err } = await learner.run(...args)
    assert.equal(code, 2)
    assert.ok(err.startsWith(message), err)
  }
})

test('the time of a program can be set by the environment', async (t) => {
  const learner = new Learner(t, { env: { TERRACE_WORKSHOP_TIMEOUT_MS: '700' } })
  await learner.run('select', 'save')
  learner.write('save/index.mjs', 'for (;;);\n')
  const { code, out } = await learner.run('verify')
  assert.equal(code, 1)
  assert.match(out, /Your program did not end within 0\.7 s/)
})
