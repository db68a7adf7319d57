import { readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { pathToFileURL } from 'node:url'
import { allow, callBoth } from '../../support/judge.mjs'

const harness = new URL('harness.mjs', import.meta.url)

export const example = ({ submission }) => callWith(submission, ['gull', 'kite', 'kite'])

export default async function check(context) {
  const { submission, random, refuse, expectEqual } = context
  const kinds = Array.from({ length: 4 }, () => random.word(5))
  const birds = Array.from({ length: 9 }, () => random.pick(kinds))
  const both = await callBoth(context, callWith(submission, birds).with, { harness })
  const { own, reference } = both

  const imported = importsOf(submission).find((name) => isBuiltin(name))
  if (imported !== undefined) refuse(onlyInNode(`import '${imported}'`))
  const failure = own.inMemory.failure ?? own.inPage.failure
  if (failure !== undefined) refuse(notInPage(failure))
  expectEqual(own.inMemory.returned, reference.inMemory.returned, wrong)
  if (own.inMemory.contents.length === 0) refuse(elsewhere)
  expectEqual(own.inMemory.contents, reference.inMemory.contents, otherContents)
  expectEqual(own.inPage, reference.inPage, otherInPage)
  for (const name of own.globals) refuse(onlyInNode(name))
}

const callWith = (submission, birds) => ({
  with: { birds, file: pathToFileURL(submission).href },
  harness,
  allow
})

/** The names of the modules that a file imports. */
function importsOf(file) {
  const found = readFileSync(file, 'utf8').matchAll(/^\s*(?:import|export)\b[^'"]*['"]([^'"]+)['"]/gm)
  return [...found].map(([, name]) => name)
}

const wrong = {
  en: 'Your function returned something else than all birds with their numbers.',
  de: 'Deine Funktion hat etwas anderes zurückgegeben als alle Vögel mit ihren Zahlen.'
}

const elsewhere = {
  en: 'The result is right, but the database that your function was handed is empty. Store the birds in that one, and make none of your own.',
  de: 'Das Ergebnis stimmt, aber die Datenbank, die deine Funktion bekommen hat, ist leer. Speichere die Vögel in ihr und mach keine eigene.'
}

const otherContents = {
  en: 'The result is right, but the birds are not in the sublevel birds with their numbers as JSON.',
  de: 'Das Ergebnis stimmt, aber die Vögel stehen nicht mit ihren Zahlen als JSON im Sublevel birds.'
}

const notInPage = (code) => ({
  en: `Your function made a call that a database in a page cannot answer: ${code}. There, every answer is a promise, and the database may not be open yet. Use the calls that return a promise, and await them.`,
  de: `Deine Funktion hat etwas aufgerufen, was eine Datenbank in einer Seite nicht kann: ${code}. Dort ist jede Antwort ein Promise, und die Datenbank ist vielleicht noch nicht offen. Nimm Aufrufe, die ein Promise zurückgeben, und warte darauf.`
})

const otherInPage = {
  en: 'It works with a MemoryLevel, but with a database as in a page the birds are others. Await every call.',
  de: 'Mit einem MemoryLevel geht es, aber mit einer Datenbank wie in einer Seite sind die Vögel andere. Warte auf jeden Aufruf.'
}

const onlyInNode = (what) => ({
  en: `Your module uses something that a page does not have: ${what}.`,
  de: `Dein Modul benutzt etwas, das es in einer Seite nicht gibt: ${what}.`
})
