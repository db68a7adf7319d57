import { allow, callBoth } from '../../support/judge.mjs'

const harness = new URL('./harness.mjs', import.meta.url)

const PUNCTUATION = [...' !"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~']

export const example = {
  with: {
    birds: [
      { place: 'hill', number: 7, name: 'hopper' },
      { place: 'hill', number: 41, name: 'tiny' },
      { place: 'hill top', number: 3, name: 'kiki' }
    ],
    places: ['hill', 'hill top']
  },
  export: 'keyOf',
  harness,
  allow
}

export default async function check(context) {
  const { random, refuse } = context
  const place = random.word(4)
  const near = [`${place}1`, `${place}s`, ...PUNCTUATION.map((sign) => place + sign + random.word(2))]
  const places = [place, ...random.shuffled(near)]
  const numbers = [
    [2, 9],
    [11, 11],
    [12, 99],
    [200, 999],
    [1000, 1999],
    [100_000, 199_999]
  ].map((bounds) => random.integer(...bounds))
  const birds = random.shuffled(
    places.flatMap((each) => {
      const used = each === place ? numbers : [1, random.integer(10, 999_999)]
      return used.map((number) => ({ place: each, number, name: random.word(7) }))
    })
  )

  const { own, reference } = await callBoth(context, { birds, places }, { harness, export: 'keyOf' })
  if (own.hasNoRange) refuse(noRange)
  const notText = own.keys.find((key) => typeof key !== 'string')
  if (own.answers === undefined) refuse(noText, { expected: 'text', actual: notText })
  refuseSameKeys(own.keys, birds, refuse)
  for (const [index, name] of places.entries()) {
    refuseWrongBirds(name, { expected: reference.answers[index], actual: own.answers[index] }, birds, refuse)
  }
}

function refuseSameKeys(keys, birds, refuse) {
  const ownerOf = new Map()
  for (const [index, key] of keys.entries()) {
    const other = ownerOf.get(key)
    if (other !== undefined) refuse(sameKey(other, birds[index], key))
    ownerOf.set(key, birds[index])
  }
}

function refuseWrongBirds(place, compared, birds, refuse) {
  const { expected, actual } = compared
  const stranger = birds.find(({ name }) => actual.includes(name) && !expected.includes(name))
  if (stranger !== undefined) refuse(strangers(place, stranger.place), compared)
  if (actual.length < expected.length) refuse(tooNarrow(place), compared)
  const wrong = expected.findIndex((name, index) => actual[index] !== name)
  if (wrong === -1) return
  const numberOf = (name) => birds.find((bird) => bird.name === name).number
  refuse(wrongOrder(numberOf(expected[wrong]), numberOf(actual[wrong])), compared)
}

const noRange = {
  en: 'Your module does not export a function rangeOf.',
  de: 'Dein Modul exportiert keine Funktion rangeOf.'
}

const noText = {
  en: 'keyOf returns something that is not text.',
  de: 'keyOf gibt etwas zurück, das kein Text ist.'
}

const sameKey = (one, other, key) => ({
  en: `Number ${one.number} of "${one.place}" and number ${other.number} of "${other.place}" have the same key, ${JSON.stringify(key)}. Put a separator between the parts.`,
  de: `Nummer ${one.number} von „${one.place}“ und Nummer ${other.number} von „${other.place}“ haben denselben Schlüssel, ${JSON.stringify(key)}. Setz ein Trennzeichen zwischen die Teile.`
})

const strangers = (place, other) => ({
  en: `Your range of "${place}" also has birds of "${other}". Use a separator that cannot occur in a name, and let the range begin with the name and the separator.`,
  de: `Dein Bereich von „${place}“ enthält auch Vögel von „${other}“. Nimm ein Trennzeichen, das in keinem Namen vorkommen kann, und lass den Bereich mit Namen und Trennzeichen beginnen.`
})

const tooNarrow = (place) => ({
  en: `Birds of "${place}" are missing: not all of their keys are in your range.`,
  de: `Es fehlen Vögel von „${place}“: Nicht alle ihre Schlüssel liegen in deinem Bereich.`
})

const wrongOrder = (first, second) => ({
  en: `Number ${second} comes before number ${first}, because keys are compared character by character. Give all numbers the same width.`,
  de: `Nummer ${second} kommt vor Nummer ${first}, weil Schlüssel Zeichen für Zeichen verglichen werden. Gib allen Nummern dieselbe Breite.`
})
