// What authors have: a workshop to begin with, and the check of a workshop.
//
// In the full form only: it checks whole workshops.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { selfCheck } from '../dist/index.mjs'
import { directory, Learner, tiny } from './support/learner.js'

// A slow machine has the time that it needs.
process.env.TERRACE_WORKSHOP_TIMEOUT_MS = '60000'

const here = fileURLToPath(new URL('..', import.meta.url))

function runner(cwd, ...args) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(here, 'dist/main.js'), ...args], {
    cwd,
    encoding: 'utf8'
  })
  return { code: status, out: stdout, err: stderr }
}

/** Makes a workshop, with this package among its packages. */
function created(t) {
  const base = directory(t)
  assert.equal(runner(base, 'create', 'birds').code, 0)
  mkdirSync(join(base, 'birds/node_modules'))
  symlinkSync(here, join(base, 'birds/node_modules/terrace-workshop-runner'), 'junction')
  return join(base, 'birds')
}

test('a created workshop passes its own check, and a learner can solve it', async (t) => {
  const birds = created(t)
  const checked = runner(birds, 'check-workshop', '.')
  assert.deepEqual(checked, { code: 0, out: 'No problems found.\n', err: '' })

  const learner = new Learner(t, { program: join(birds, 'main.mjs') })
  for (const name of ['sum', 'lines']) {
    assert.match((await learner.run('next')).out, new RegExp(`Your starting point: ${name}\\.mjs`))
    assert.equal((await learner.run('verify')).code, 1)
    cpSync(join(birds, 'exercises', name, 'solution.mjs'), join(learner.directory, `${name}.mjs`))
    const { code, out } = await learner.run('verify')
    assert.equal(code, 0, out)
  }
  assert.match((await learner.run('status')).out, /^2 of 2 solved\./)
})

test('a learner imports what the workshop says, although it is installed for the workshop alone', async (t) => {
  const birds = created(t)
  for (const name of ['numbers', 'others']) {
    mkdirSync(join(birds, 'node_modules', name))
    writeFileSync(join(birds, 'node_modules', name, 'index.mjs'), 'export const add = (a, b) => a + b\n')
    writeFileSync(join(birds, 'node_modules', name, 'package.json'), '{ "exports": "./index.mjs" }\n')
  }
  const manifest = JSON.parse(readFileSync(join(birds, 'workshop.json'), 'utf8'))
  writeFileSync(join(birds, 'workshop.json'), JSON.stringify({ ...manifest, packages: ['numbers'] }))

  const learner = new Learner(t, { program: join(birds, 'main.mjs') })
  await learner.run('select', 'sum')
  const program = (name) => `import { add } from '${name}'\nexport default (all) => all.reduce(add, 0)\n`
  learner.write('sum.mjs', program('numbers'))
  const accepted = await learner.run('verify')
  assert.equal(accepted.code, 0, accepted.out + accepted.err)
  learner.write('sum.mjs', program('others'))
  const refused = await learner.run('verify')
  assert.match(refused.out, /Cannot find package 'others'/)
  assert.equal(refused.code, 1)
})

test('create writes over nothing, and wants a name that a package can have', (t) => {
  const base = directory(t)
  mkdirSync(join(base, 'full'))
  writeFileSync(join(base, 'full/notes.txt'), 'kept')
  const full = runner(base, 'create', 'full')
  assert.equal(full.code, 2)
  assert.match(full.err, /full has files already, so nothing was written\./)
  assert.match(runner(base, 'create', 'My Birds').err, /'My Birds' cannot be a workshop's name/)
})

test('the runner tells what is wrong with its command line', (t) => {
  const base = directory(t)
  for (const args of [['create'], ['create', 'a', 'b'], ['check-workshop'], ['dance']]) {
    const { code, err } = runner(base, ...args)
    assert.equal(code, 2)
    assert.match(err, /^terrace-workshop-runner: /)
  }
  assert.match(runner(base).out, /^Usage: terrace-workshop-runner COMMAND/)
  const { version } = JSON.parse(readFileSync(join(here, 'package.json'), 'utf8'))
  assert.equal(runner(base, '--version').out, `${version}\n`)
})

test('the workshop of these tests has no problems', async () => {
  assert.deepEqual(await selfCheck(tiny), [])
})

/** What the check says of a created workshop after a change of its files. */
async function problemsAfter(t, changes) {
  const birds = created(t)
  for (const [file, text] of Object.entries(changes)) {
    const path = join(birds, file)
    if (text === undefined) rmSync(path)
    else writeFileSync(path, typeof text === 'function' ? text(readFileSync(path, 'utf8')) : text)
  }
  return selfCheck(birds, { seeds: [1] })
}

test('a solution that is refused, a starter that is accepted, and a wrong program that is accepted are found', async (t) => {
  const right = 'export default (numbers) => numbers.reduce((total, number) => total + number, 0)\n'
  assert.deepEqual(
    (await problemsAfter(t, { 'exercises/sum/starter.mjs': right })).map((each) => each.split('\n')[0]),
    ['sum: starter.mjs: is accepted (seed 1)']
  )
  assert.deepEqual(
    await problemsAfter(t, {
      'exercises/sum/wrong/no-numbers.mjs': `// The sum of no numbers is 0.\n${right}`
    }),
    ['sum: wrong/no-numbers.mjs: is accepted (seed 1)']
  )
  const [problem] = await problemsAfter(t, {
    'exercises/sum/solution.mjs': 'export default () => 1\n'
  })
  assert.match(
    problem,
    /^sum: solution\.mjs: is refused: The sum of no numbers is 0\.\nexpected: +0\nyours: +1/
  )
})

test('a wrong program that is refused for another reason is found, and one that does not say its reason', async (t) => {
  const other = await problemsAfter(t, {
    'exercises/sum/wrong/no-numbers.mjs': (text) => text.replace('The sum of no numbers', 'Some other reason')
  })
  assert.equal(other.length, 1)
  assert.match(
    other[0],
    /no-numbers\.mjs: is refused, but not because of 'Some other reason is 0\.': The sum of no/
  )
  const silent = await problemsAfter(t, {
    'exercises/sum/wrong/no-numbers.mjs': (text) => text.replace(/^\/\/.*\n/, '')
  })
  assert.match(
    silent.join(),
    /no-numbers\.mjs: does not begin with a comment that explains why it is refused/
  )
})

test('only the exercises that are named are checked', async (t) => {
  const birds = created(t)
  for (const name of ['sum', 'lines']) rmSync(join(birds, `exercises/${name}/problem.en.md`))
  const problemsOf = (...exercises) => selfCheck(birds, { seeds: [1], exercises })
  assert.deepEqual(await problemsOf('lines'), ['lines: problem.en.md is missing or empty'])
  assert.deepEqual(await problemsOf(), [])
  assert.deepEqual(await problemsOf('gone'), ['workshop.json: there is no exercise gone'])
})

test('texts that a language lacks are found', async (t) => {
  const german = (text) =>
    text.replace('"en"', '"en", "de"').replace('"birds",\n  "version"', '{ "en": "Birds" },\n  "version"')
  const problems = await problemsAfter(t, {
    'workshop.json': german,
    'exercises/sum/problem.de.md': '# Eine Summe\n',
    'exercises/sum/hint.de.md': 'Ein Hinweis\n'
  })
  assert.deepEqual(problems, [
    'workshop.json: "title" has no de',
    'sum: the languages have different numbers of hints: en has 2, de has 1',
    'lines: problem.de.md is missing or empty',
    'lines: the languages have different numbers of hints: en has 1, de has 0'
  ])
})

test('a check that fails is the workshop’s fault: told to authors and to learners', async (t) => {
  const broken = { 'exercises/sum/check.mjs': 'export default () => { throw new Error("my mistake") }\n' }
  for (const problem of await problemsAfter(t, broken)) assert.match(problem, /^sum: .*: Error: my mistake/)
  const cases = {
    'exercises/sum/check.mjs': /check\.mjs: SyntaxError/,
    'workshop.json': /workshop\.json: .*JSON/
  }
  for (const [file, message] of Object.entries(cases)) {
    const birds = created(t)
    const learner = new Learner(t, { program: join(birds, 'main.mjs') })
    await learner.run('select', 'sum')
    writeFileSync(join(birds, file), '{ not a module')
    const { code, err } = await learner.run('verify')
    assert.equal(code, 3)
    assert.match(err, /^The workshop itself is wrong; you can do nothing about it\./)
    assert.match(err, message)
  }
})

test('a reference solution that fails is not blamed on the learner', async (t) => {
  const birds = created(t)
  const learner = new Learner(t, { program: join(birds, 'main.mjs') })
  await learner.run('select', 'sum')
  cpSync(join(birds, 'exercises/sum/solution.mjs'), join(learner.directory, 'sum.mjs'), { force: true })
  writeFileSync(
    join(birds, 'exercises/sum/solution.mjs'),
    'export default () => { throw new Error("ours") }\n'
  )
  const { code, err } = await learner.run('verify')
  assert.equal(code, 3)
  assert.match(err, /^The workshop itself is wrong[\s\S]*solution\.mjs: [\s\S]*Error: ours/)
})

test('a module beside the learner’s program is the learner’s as well', async (t) => {
  const birds = created(t)
  writeFileSync(
    join(birds, 'exercises/lines/check.mjs'),
    `import { dirname, join } from 'node:path'
export default ({ submission, call }) => call(join(dirname(submission), 'part.mjs'))\n`
  )
  const learner = new Learner(t, { program: join(birds, 'main.mjs') })
  await learner.run('select', 'lines')
  learner.write('part.mjs', 'export default () => {\n  throw new Error("mine")\n}\n')
  const { code, out } = await learner.run('verify')
  assert.equal(code, 1)
  assert.match(out, /^✗ Not yet\. Your function threw an error\.\n\nError: mine\n {4}at .*part\.mjs:2:9/)
})

test('what a workshop.json may not say is told', async (t) => {
  const birds = created(t)
  const good = JSON.parse(readFileSync(join(birds, 'workshop.json'), 'utf8'))
  for (const [change, message] of [
    [{ name: '../evil' }, /"name" must consist of/],
    [{ title: 5 }, /"title" must be/],
    [{ version: undefined }, /"version" must be/],
    [{ languages: [] }, /"languages" must list/],
    [{ languages: ['../x'] }, /"languages" must list/],
    [{ exercises: ['../../x'] }, /"exercises" must list/],
    [{ exercises: ['sum', 'sum'] }, /"exercises" lists sum twice/],
    [{ exercises: ['sum', 'gone'] }, /gone is missing/],
    [{ renamed: ['sum'] }, /"renamed" must have/]
  ]) {
    writeFileSync(join(birds, 'workshop.json'), JSON.stringify({ ...good, ...change }))
    const problems = await selfCheck(birds)
    assert.equal(problems.length, 1)
    assert.match(problems[0], message)
  }
})
