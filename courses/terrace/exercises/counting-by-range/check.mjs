import { callBoth, exampleOf, refuseLongWalk, refuseOpenThings } from '../../support/judge.mjs'

export const example = exampleOf({
  entries: [
    ['harbour!gull', '3 of them'],
    ['harbour!tern', '1 of them'],
    ['hill!kite', '2 of them']
  ],
  inputs: ['harbour']
})

export default async function check(context) {
  const { random, refuse } = context
  const place = random.word(5)
  const places = [place, `${place}er`, ...Array.from({ length: 20 }, () => random.word(5))]
  const entries = places.flatMap((name) => {
    const birds = Array.from({ length: random.integer(1, 9) }, () => random.word(4))
    return birds.map((bird) => [`${name}!${bird}`, `${random.integer(1, 9)} of them`])
  })

  const both = await callBoth(context, { entries, inputs: [place] })
  const { own, reference } = both
  if (own.returned !== reference.returned) {
    const isOfNeighbours = own.returned === entries.filter(([key]) => key.startsWith(place)).length
    refuse(isOfNeighbours ? neighbours(place) : wrong(place), {
      expected: reference.returned,
      actual: own.returned
    })
  }
  refuseLongWalk(both, context)
  if (own.cursors.some(({ parts }) => parts !== 'keys')) refuse(values)
  refuseOpenThings(both, context)
}

const wrong = (place) => ({
  en: `The number of birds seen at ${place} is wrong.`,
  de: `Die Zahl der Vögel in ${place} ist falsch.`
})

const neighbours = (place) => ({
  en: `A place whose name only begins with ${place} is another place. Your function counts its birds as well.`,
  de: `Ein Ort, dessen Name nur mit ${place} beginnt, ist ein anderer Ort. Deine Funktion zählt seine Vögel mit.`
})

const values = {
  en: 'Counting needs keys alone. Walk over them with db.keys(), without their values.',
  de: 'Zum Zählen genügen die Schlüssel. Lauf mit db.keys() über sie, ohne ihre Werte.'
}
