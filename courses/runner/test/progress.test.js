// The file of progress: older, newer and damaged ones, and several processes at once.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { isShort, scaled, someOf } from '../../../tests/support/form.mjs'
import { dataDirectory } from '../dist/data-directory.js'
import { ProgressFile } from '../dist/progress-file.js'
import { directory, Learner } from './support/learner.js'

const none = { format: 2, solved: {}, hints: {} }

test('progress of the first format is converted, and kept in the present one', async (t) => {
  const learner = new Learner(t)
  const old = '{"completed":["double","count"],"current":"count","language":"de"}'
  writeFileSync(learner.progressFile, old)
  const status = await learner.run('status')
  assert.deepEqual([status.out, status.err], ['2 von 5 gelöst. Gewählt: Zählen.\n', ''])
  assert.equal(readFileSync(learner.progressFile, 'utf8'), old)
  await learner.run('select', 'save')
  const time = '1970-01-01T00:00:00.000Z'
  assert.deepEqual(learner.progress, {
    ...none,
    selected: 'save',
    language: 'de',
    solved: { double: time, count: time }
  })
})

test('progress of an earlier version of the workshop follows exercises that have another name now', async (t) => {
  const learner = new Learner(t)
  const solved = { twice: '2026-01-01T00:00:00.000Z', gone: '2026-01-02T00:00:00.000Z' }
  writeFileSync(
    learner.progressFile,
    JSON.stringify({ ...none, solved, hints: { twice: 1 }, selected: 'twice' })
  )
  assert.equal((await learner.run('status')).out, '1 of 5 solved. Selected: Double.\n')
  assert.match((await learner.run('hint')).out, /^Hint 2 of 2\n/)
  assert.deepEqual(learner.progress.solved, { double: solved.twice, gone: solved.gone })
})

test('damaged progress is set aside under another name, and told', async (t) => {
  const learner = new Learner(t)
  const texts = [
    '{"format":2,',
    '[]',
    '{"format":2,"solved":{"double":1},"hints":{}}',
    '{"completed":"all"}',
    ''
  ]
  for (const [index, text] of someOf(texts).entries()) {
    writeFileSync(learner.progressFile, text)
    const { code, out, err } = await learner.run('status')
    const aside = join(learner.home, `tiny.damaged-${index + 1}.json`)
    assert.deepEqual([code, out], [0, '0 of 5 solved. Selected: none.\n'])
    assert.equal(
      err,
      `Your progress could not be read. It was renamed to ${aside}; the workshop starts from the beginning.\n`
    )
    assert.equal(readFileSync(aside, 'utf8'), text)
  }
})

test('progress of a newer format is set aside as it is, and told', async (t) => {
  const learner = new Learner(t)
  writeFileSync(learner.progressFile, '{"format":3,"all":true}')
  const { code, err } = await learner.run('select', 'double')
  const aside = join(learner.home, 'tiny.newer-1.json')
  assert.equal(code, 0)
  assert.match(err, /^Your progress was written by a newer version\. It was renamed to /)
  assert.ok(err.includes(aside))
  assert.equal(readFileSync(aside, 'utf8'), '{"format":3,"all":true}')
  assert.deepEqual(learner.progress, { ...none, selected: 'double' })
})

test('reset forgets what was solved, and keeps the language and the files', async (t) => {
  const learner = new Learner(t)
  await learner.run('language', 'de')
  await learner.run('select', 'double')
  await learner.run('hint')
  assert.match((await learner.run('reset')).out, /^Der Fortschritt ist gelöscht\./)
  assert.deepEqual(learner.progress, { ...none, language: 'de' })
  assert.ok(learner.has('double.mjs'))
})

const writer = fileURLToPath(new URL('support/writer.js', import.meta.url))

/** Has processes add to a file of progress at once. */
async function addAtOnce(home, names, count) {
  const children = names.map((name) =>
    spawn(process.execPath, [writer, home, name, String(count)], { stdio: 'inherit' })
  )
  const codes = await Promise.all(children.map(async (child) => (await once(child, 'close'))[0]))
  assert.deepEqual(
    codes,
    names.map(() => 0)
  )
}

test('two processes at once keep what each of them has done', async (t) => {
  const home = directory(t)
  const count = scaled(50, 20)
  await addAtOnce(home, ['first', 'second'], count)
  const { solved } = JSON.parse(readFileSync(join(home, 'some.json'), 'utf8'))
  assert.equal(Object.keys(solved).length, 2 * count)
  assert.deepEqual(readdirSync(home), ['some.json'])
})

test('two runs of a workshop at once do each other no harm', async (t) => {
  const learner = new Learner(t)
  const runs = await Promise.all([
    learner.run('select', 'double'),
    learner.run('language', 'de'),
    learner.run('select', 'double', '--language', 'en')
  ])
  assert.deepEqual(
    runs.map(({ code }) => code),
    [0, 0, 0]
  )
  assert.deepEqual(learner.progress, { ...none, language: 'de', selected: 'double' })
})

test('an exercise selected by two runs at once gets its starting point once', async (t) => {
  for (const [name, file] of [
    ['double', 'double.mjs'],
    ['save', 'save']
  ]) {
    const learner = new Learner(t)
    const count = isShort ? 2 : 4
    const runs = await Promise.all(Array.from({ length: count }, () => learner.run('select', name)))
    assert.deepEqual(
      runs.map(({ code, err }) => [code, err]),
      runs.map(() => [0, ''])
    )
    const told = runs.map(({ out }) => /Your starting point|already exists/.exec(out)?.[0]).sort()
    assert.deepEqual(told, ['Your starting point', ...Array(count - 1).fill('already exists')])
    assert.ok(learner.has(file))
  }
})

test('the lock of a process that died is taken over', async (t) => {
  const home = directory(t)
  const dead = spawn(process.execPath, ['-e', ''])
  await once(dead, 'close')
  const file = new ProgressFile(home, 'some', {}, assert.fail)
  writeFileSync(`${file.path}.lock`, String(dead.pid))
  file.update((progress) => {
    progress.selected = 'one'
  })
  assert.equal(file.read().selected, 'one')
  assert.ok(!existsSync(`${file.path}.lock`))
})

test('an action that throws leaves the file as it was, and no lock', (t) => {
  const home = directory(t)
  const file = new ProgressFile(home, 'some', {}, assert.fail)
  file.update((progress) => {
    progress.selected = 'one'
  })
  const change = () => {
    throw new Error('the reason')
  }
  assert.throws(() => file.update(change), /the reason/)
  assert.deepEqual(readdirSync(home), ['some.json'])
  assert.equal(file.read().selected, 'one')
})

test('each system keeps progress where its users expect data', () => {
  const home = (env, platform) => dataDirectory(env, platform).replaceAll('\\', '/')
  assert.equal(home({ TERRACE_WORKSHOP_HOME: '/own' }, 'linux'), '/own')
  assert.equal(home({ XDG_DATA_HOME: '/data' }, 'linux'), '/data/terrace-workshops')
  assert.match(home({}, 'linux'), /\/\.local\/share\/terrace-workshops$/)
  assert.match(home({}, 'darwin'), /\/Library\/Application Support\/terrace-workshops$/)
  assert.equal(home({ APPDATA: 'C:/data' }, 'win32'), 'C:/data/terrace-workshops')
})
