import { isDeepStrictEqual } from 'node:util'
import { callBoth, exampleOf, refuseOpenThings } from '../../support/judge.mjs'

export const example = exampleOf({
  entries: [
    ['!birds!kingfisher', 'blue and orange'],
    ['!places!kingfisher', 'an inn by the river']
  ],
  inputs: [
    'birds',
    [
      ['tern', 'white'],
      ['rook', 'black']
    ]
  ]
})

export default async function check(context) {
  const { random, refuse } = context
  const name = `${random.word(4)}s`
  const others = [`${name}s`, name.slice(0, -1), random.word(5)]
  const old = Array.from({ length: random.integer(4, 9) }, () => random.word(5))
  const entries = [name, ...others].flatMap((sublevel) =>
    old.map((key) => [`!${sublevel}!${key}`, `${key} of ${sublevel}`])
  )
  // One key stays, with another value.
  const keys = [old[0], ...Array.from({ length: random.integer(3, 6) }, () => random.word(5))]
  const wanted = random.shuffled(keys).map((key) => [key, `new ${random.word(3)}`])

  const both = await callBoth(context, { entries, inputs: [name, wanted] })
  const { own, reference } = both
  if (!isDeepStrictEqual(own.contents, reference.contents)) {
    const compared = { expected: reference.contents, actual: own.contents }
    refuse(reasonOf(own.contents, { name, old, entries, wanted }), compared)
  }
  const { length } = own.writes
  // Deleting and storing in one batch is accepted: it is atomic, which clear() and a batch are not.
  if (own.clears.length === 0 && length > 1) refuse(noClear)
  if (length > 1) refuse(severalWrites(length))
  refuseOpenThings(both, context)
}

/** Why the contents are wrong. */
function reasonOf(contents, { name, old, entries, wanted }) {
  const stored = new Map(contents)
  const prefix = `!${name}!`
  if (entries.some(([key]) => !key.startsWith(prefix) && !stored.has(key))) return clearsOthers
  if (contents.some(([key]) => !key.startsWith('!'))) return noSublevel(name)
  const isWanted = (key) => wanted.some(([each]) => each === key)
  if (old.some((key) => !isWanted(key) && stored.has(prefix + key))) return keepsOld
  return wrong(name)
}

const clearsOthers = {
  en: 'Entries of other sublevels are gone. Call clear() on the sublevel: on the database, it deletes everything.',
  de: 'Einträge anderer Sublevels sind weg. Ruf clear() auf dem Sublevel auf: Auf der Datenbank löscht es alles.'
}

const noSublevel = (name) => ({
  en: `The new entries are not in the sublevel ${name}, but beside it. Write through the object that db.sublevel() returns.`,
  de: `Die neuen Einträge sind nicht im Sublevel ${name}, sondern daneben. Schreib über das Objekt, das db.sublevel() zurückgibt.`
})

const keepsOld = {
  en: 'Old entries of the sublevel are still there.',
  de: 'Es sind noch alte Einträge des Sublevels da.'
}

const wrong = (name) => ({
  en: `The sublevel ${name} does not hold what it should.`,
  de: `Das Sublevel ${name} enthält nicht, was es enthalten soll.`
})

const noClear = {
  en: 'The result is right, but your function deletes key by key. A sublevel is a range: clear() deletes all of it, and you need not read the keys.',
  de: 'Das Ergebnis stimmt, aber deine Funktion löscht Schlüssel für Schlüssel. Ein Sublevel ist ein Bereich: clear() löscht ihn ganz, und du musst die Schlüssel nicht lesen.'
}

const severalWrites = (count) => ({
  en: `The result is right, but your function writes ${count} times. Put all entries into one batch.`,
  de: `Das Ergebnis stimmt, aber deine Funktion schreibt ${count}-mal. Schreib alle Einträge in einem Batch.`
})
