import { isDeepStrictEqual } from 'node:util'
import { allow, callBoth, refuseLongWalk, refuseOpenThings } from '../../support/judge.mjs'

const harness = new URL('./harness.mjs', import.meta.url)

export const example = {
  with: {
    sightings: [
      { place: 'hill', bird: 'kite', day: '2026-03-01' },
      { place: 'hill', bird: 'wren', day: '2026-03-02' },
      { place: 'lake', bird: 'kite', day: '2026-03-03' }
    ],
    place: 'hill',
    bird: 'kite'
  },
  export: 'record',
  harness,
  allow
}

export default async function check(context) {
  const { random, refuse } = context
  const { sightings, place, bird } = randomSightings(random)
  const both = await callBoth(context, { sightings, place, bird }, { harness, export: 'record' })
  const { own, reference } = both
  if (own.missing !== undefined) refuse(noFunction(own.missing))
  if (own.writes.length > sightings.length) refuse(severalWrites)

  for (const [question, name] of [
    ['birdsAt', place],
    ['placesOf', bird]
  ]) {
    const answers = { own: own.answers[question], reference: reference.answers[question] }
    refuseWrong(question, name, answers, refuse)
    refuseLongWalk(answers, context)
    if (answers.own.reads.length > 0) refuse(readsBesides(question))
    refuseOpenThings(answers, context)
  }
}

/** Every place has seen every bird on a day of its own; one name belongs to a place and to a bird. */
function randomSightings(random) {
  const [place, bird] = [random.word(4), random.word(4)]
  const places = [place, bird, `${place}s`, `${place}ide`, random.word(4), random.word(5)]
  const birds = [bird, place, `${bird}er`, random.word(4), random.word(5)]
  const pairs = places.flatMap((eachPlace) => birds.map((eachBird) => ({ place: eachPlace, bird: eachBird })))
  const days = random.shuffled(pairs.map((_, index) => new Date(Date.UTC(2026, 2, 1 + index))))
  const sightings = pairs.map((pair, index) => ({ ...pair, day: days[index].toISOString().slice(0, 10) }))
  return { sightings: random.shuffled(sightings), place, bird }
}

function refuseWrong(question, name, { own, reference }, refuse) {
  const compared = { expected: reference.returned, actual: own.returned }
  if (isDeepStrictEqual(own.returned, reference.returned)) return
  if (!Array.isArray(own.returned)) refuse(noArray(question), compared)
  const isSorted = isDeepStrictEqual([...own.returned].sort(), [...reference.returned].sort())
  if (isSorted) refuse(wrongOrder(question), compared)
  const hasOthers = own.returned.some((each) => !reference.returned.includes(each))
  refuse(
    hasOthers || own.returned.length > reference.returned.length
      ? others(question, name)
      : missing(question, name),
    compared
  )
}

const noFunction = (name) => ({
  en: `Your module does not export a function ${name}.`,
  de: `Dein Modul exportiert keine Funktion ${name}.`
})

const severalWrites = {
  en: 'Your function writes several times for one sighting. If the program ends in between, one question knows the sighting and the other does not: write one batch.',
  de: 'Deine Funktion schreibt mehrmals für eine Sichtung. Endet das Programm dazwischen, kennt die eine Frage die Sichtung und die andere nicht: Schreib einen Batch.'
}

const noArray = (question) => ({
  en: `${question} does not return an array.`,
  de: `${question} gibt kein Array zurück.`
})

const wrongOrder = (question) => ({
  en: `${question} returns the right names, but not in the order of the days. Entries come in the order of their keys: which part of the key must come after the first?`,
  de: `${question} gibt die richtigen Namen zurück, aber nicht in der Reihenfolge der Tage. Einträge kommen in der Reihenfolge ihrer Schlüssel: Welcher Teil muss auf den ersten folgen?`
})

const others = (question, name) => ({
  en: `${question}(db, '${name}') returns names that do not belong there. Other names may begin with "${name}", and a place and a bird may have the same name.`,
  de: `${question}(db, '${name}') gibt Namen zurück, die nicht dazugehören. Andere Namen können mit „${name}“ beginnen, und ein Ort und ein Vogel können gleich heißen.`
})

const missing = (question, name) => ({
  en: `Names are missing in what ${question}(db, '${name}') returns. Does record() store something that this question can find?`,
  de: `In dem, was ${question}(db, '${name}') zurückgibt, fehlen Namen. Speichert record() etwas, das diese Frage finden kann?`
})

const readsBesides = (question) => ({
  en: `${question} reads single entries besides its range. Store what the answer needs in the entries of the range.`,
  de: `${question} liest neben dem Bereich noch einzelne Einträge. Speichere in den Einträgen des Bereichs, was die Antwort braucht.`
})
