// A learner's way through the first two chapters, by the program itself.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { isShort } from '../../../tests/support/form.mjs'
import { Learner } from '../../runner/test/support/learner.js'

const course = fileURLToPath(new URL('../', import.meta.url))
const { exercises } = JSON.parse(readFileSync(join(course, 'workshop.json'), 'utf8'))

const learnerOf = (t, env = {}) => new Learner(t, { program: join(course, 'main.mjs'), env })

/** A file of a chapter, such as its solution. */
const part = (chapter, file) => join(course, 'exercises', chapter, file)

/** What a learner reads, in each language, and in which of the chapters mistakes are made in the short form. */
const LANGUAGES = [
  {
    locale: 'en_GB.UTF-8',
    mistaken: 'hello',
    hello: {
      title: 'Hello, database',
      starter: 'There is no database in the directory',
      wrong: 'Your program does not close the database.'
    },
    openAndClose: {
      title: 'Open and close',
      starter: 'The database is not open yet when your function calls work.',
      wrong: 'The database is still locked after work has thrown an error.'
    },
    made: (file) => `Your starting point: ${file}.`,
    refused: '✗ Not yet. ',
    accepted: (title) => `✓ Accepted: ${title} is solved.\n`,
    status: (solved) => `${solved} of ${exercises.length} solved.`
  },
  {
    locale: 'de_DE.UTF-8',
    mistaken: 'open-and-close',
    hello: {
      title: 'Hallo, Datenbank',
      starter: 'In dem Verzeichnis, das dein Programm als erstes Argument bekam, ist keine Datenbank.',
      wrong: 'Dein Programm schließt die Datenbank nicht.'
    },
    openAndClose: {
      title: 'Öffnen und Schließen',
      starter: 'Die Datenbank ist noch nicht offen, wenn deine Funktion work aufruft.',
      wrong: 'Die Datenbank ist noch gesperrt, nachdem work einen Fehler geworfen hat.'
    },
    made: (file) => `Deine Vorlage: ${file}.`,
    refused: '✗ Noch nicht. ',
    accepted: (title) => `✓ Angenommen: ${title} ist gelöst.\n`,
    status: (solved) => `${solved} von ${exercises.length} gelöst.`
  }
]

for (const texts of LANGUAGES) {
  test(`the first two chapters, in the language of ${texts.locale}`, async (t) => {
    const learner = learnerOf(t, { LANG: texts.locale })
    const { hello, openAndClose } = texts
    await play(learner, ['select', 'hello'], 'hello', hello, 'wrong/stays-open.mjs', texts)
    assert.ok((await learner.run('status')).out.startsWith(texts.status(1)))
    await play(learner, ['next'], 'open-and-close', openAndClose, 'wrong/closes-if-all-is-well.mjs', texts)
    assert.ok((await learner.run('status')).out.startsWith(texts.status(2)))
    assert.deepEqual(learner.leftovers, [])
  })
}

/**
 * Selects a chapter, and verifies what the learner begins with, a wrong program, and the reference solution; in the short form of
 * one chapter the solution alone.
 */
async function play(learner, selection, chapter, { title, starter, wrong }, wrongProgram, texts) {
  const selected = await learner.run(...selection)
  assert.deepEqual({ code: selected.code, err: selected.err }, { code: 0, err: '' })
  assert.ok(selected.out.startsWith(`${title}\n\n`), selected.out)
  assert.ok(selected.out.includes(texts.made(`${chapter}.mjs`)), selected.out)

  const mistakes = [
    [[], starter],
    [[part(chapter, wrongProgram)], wrong]
  ]
  for (const [args, message] of isShort && texts.mistaken !== chapter ? [] : mistakes) {
    const { code, out, err } = await learner.run('verify', ...args)
    assert.deepEqual({ code, err }, { code: 1, err: '' }, out)
    assert.ok(out.startsWith(texts.refused + message), out)
  }

  const accepted = await learner.run('verify', part(chapter, 'solution.mjs'))
  assert.deepEqual({ code: accepted.code, err: accepted.err }, { code: 0, err: '' }, accepted.out)
  assert.ok(accepted.out.startsWith(texts.accepted(title)), accepted.out)
}

test('run shows what a program prints, and what a function did with the database', async (t) => {
  const learner = learnerOf(t)
  await learner.run('select', 'hello')
  assert.match((await learner.run('run', part('hello', 'solution.mjs'))).out, /^kingfisher\n/)
  await learner.run('select', 'counting-by-range')
  const { code, out } = await learner.run('run', part('counting-by-range', 'solution.mjs'))
  assert.equal(code, 0)
  assert.match(out, /returned: 2,/)
  assert.match(out, /range: \{ gte: 'harbour!', lt: 'harbour"' \}/)
})

test("a chapter started twice leaves the learner's file alone", async (t) => {
  const learner = learnerOf(t)
  await learner.run('select', 'hello')
  learner.write('hello.mjs', '// mine\n')
  const again = await learner.run('select', 'hello')
  assert.equal(again.code, 0)
  assert.match(again.out, /hello\.mjs already exists, so it was not changed\./)
  assert.equal(learner.read('hello.mjs'), '// mine\n')
})
