import { isDeepStrictEqual } from 'node:util'
import { allow } from '../../support/judge.mjs'

const harness = new URL('./harness.mjs', import.meta.url)

export const example = {
  with: {
    entries: [],
    steps: [
      { way: 'put', operations: [{ type: 'put', key: 'hopper', value: { place: 'hill', count: 1 } }] },
      { way: 'put', operations: [{ type: 'put', key: 'hopper', value: { place: 'lake', count: 2 } }] },
      { way: 'del', operations: [{ type: 'del', key: 'hopper' }] }
    ]
  },
  harness,
  allow
}

export default async function check({ submission, call, random, refuse }) {
  const input = randomInput(random)
  const outcomes = await call(submission, { with: input, harness, allow })

  let before = indexIn(input.entries)
  for (const { way, error, writes, stored } of outcomes) {
    if (error !== undefined) refuse(failed(error))
    if (writes.some((operations) => operations.every(({ key }) => key.startsWith('!byPlace!')))) refuse(later)
    const [expected, actual] = [indexOf(stored), indexIn(stored)]
    if (!isDeepStrictEqual(actual, expected)) {
      const isUnseen = ['sublevel', 'clear'].includes(way) && isDeepStrictEqual(actual, before)
      refuse(isUnseen ? unseen(way) : reasonOf(way, { expected, actual, before }), { expected, actual })
    }
    before = actual
  }
}

/** Birds that are there already, with their index, and what is done to them. */
function randomInput(random) {
  const bird = random.word(4)
  const [moved, deleted, twice, ...others] = Array.from({ length: 6 }, () => random.word(5))
  const [hill, lake, ...places] = Array.from({ length: 5 }, () => random.word(4))
  const there = [moved, deleted, ...others].map((key) => ({
    key,
    value: { place: random.pick(places), count: 1 }
  }))
  const entries = there.flatMap(({ key, value }) => [
    [`!birds!${key}`, JSON.stringify(value)],
    [`!byPlace!${value.place}!${key}`, '']
  ])
  const put = (key, place) => ({ type: 'put', key, value: { place, count: random.integer(1, 9) } })
  const steps = [
    { way: 'put', operations: [put(bird, hill)] },
    { way: 'put', operations: [put(bird, hill)] },
    { way: 'put', operations: [put(bird, lake)] },
    { way: 'put', operations: [put(moved, hill)] },
    { way: 'del', operations: [{ type: 'del', key: bird }] },
    { way: 'batch', operations: [put(twice, hill), put(twice, lake)] },
    { way: 'sublevel', operations: [put(moved, lake), { type: 'del', key: deleted }] },
    { way: 'clear', operations: [] }
  ]
  return { entries, steps }
}

/** The entries that the index has. */
const indexIn = (stored) =>
  stored
    .filter(([key]) => key.startsWith('!byPlace!'))
    .map(([key]) => key.slice('!byPlace!'.length))
    .sort()

/** The entries that it should have. */
const indexOf = (stored) =>
  stored
    .filter(([key]) => key.startsWith('!birds!'))
    .map(([key, value]) => `${JSON.parse(value).place}!${key.slice('!birds!'.length)}`)
    .sort()

function reasonOf(way, { expected, actual, before }) {
  const isStale = actual.some((key) => !expected.includes(key))
  if (!isStale) return expected.some((key) => !actual.includes(key) && before.includes(key)) ? lost : missing
  return way === 'put' || way === 'batch' ? staleAfterMove : staleAfterDeletion
}

const failed = (error) => ({
  en: `A write failed because of your hook function: ${error}`,
  de: `Ein Schreibvorgang ist an deiner Hook-Funktion gescheitert: ${error}`
})

const later = {
  en: 'The index is written in a write of its own. If the program ends in between, the index stays wrong: add operations with batch.add(), then they are written in the same batch.',
  de: 'Der Index wird in einem eigenen Schreibvorgang geschrieben. Endet das Programm dazwischen, bleibt der Index falsch: Füge Operationen mit batch.add() hinzu, dann werden sie im selben Batch geschrieben.'
}

const unseen = (way) => ({
  en: `Your hook has not seen ${way === 'clear' ? 'a clear()' : 'a batch on the database with the option sublevel'}. Add it with { everyWrite: true }.`,
  de: `Dein Hook hat ${way === 'clear' ? 'ein clear()' : 'einen Batch auf der Datenbank mit der Option sublevel'} nicht gesehen. Füge ihn mit { everyWrite: true } hinzu.`
})

const staleAfterMove = {
  en: 'A bird has moved, and its entry for the old place is still there. You find the old place in what was stored before: birds.getSync(key).',
  de: 'Ein Vogel ist umgezogen, und sein Eintrag für den alten Ort ist noch da. Den alten Ort findest du in dem, was vorher gespeichert war: birds.getSync(key).'
}

const staleAfterDeletion = {
  en: 'A bird was deleted, and its entry in the index is still there.',
  de: 'Ein Vogel wurde gelöscht, und sein Eintrag im Index ist noch da.'
}

const missing = {
  en: 'A bird was stored, and its entry in the index is missing.',
  de: 'Ein Vogel wurde gespeichert, und sein Eintrag im Index fehlt.'
}

const lost = {
  en: 'A bird was stored again at the same place, and its entry in the index is gone. Delete the old entry before you add the new one: they have the same key.',
  de: 'Ein Vogel wurde am selben Ort noch einmal gespeichert, und sein Eintrag im Index ist weg. Lösche den alten Eintrag, bevor du den neuen hinzufügst: Sie haben denselben Schlüssel.'
}
