import { isDeepStrictEqual } from 'node:util'
import { allow, callBoth, refuseLongWalk, refuseOpenThings } from '../../support/judge.mjs'

const harness = new URL('./harness.mjs', import.meta.url)

export const example = {
  with: {
    sightings: [
      ['hill', new Date('2026-03-01'), 1, 'kite'],
      ['hill', new Date('2026-03-02'), 1, 'wren'],
      ['lake', new Date('2026-03-02'), 1, 'tern']
    ],
    question: ['hill', new Date('2026-03-01'), new Date('2026-03-02')]
  },
  export: 'record',
  harness,
  allow
}

export default async function check(context) {
  const { random, refuse, expectEqual } = context
  const { sightings, question } = randomSightings(random)
  const both = await callBoth(context, { sightings, question }, { harness, export: 'record' })
  const { own, reference } = both

  if (!own.hasSeen) refuse(noFunction)
  if (own.encoding !== 'bytewise') refuse(noEncoding)
  expectEqual(own.keys, reference.keys, wrongKeys)
  if (!isDeepStrictEqual(own.returned, reference.returned)) {
    const compared = { expected: reference.returned, actual: own.returned }
    const [place, , last] = question
    const ofLastDay = birdsOf(sightings, place, last)
    const hasLastDay = ofLastDay.every((bird) => own.returned?.includes?.(bird))
    const isTooShort = own.returned?.length === reference.returned.length - ofLastDay.length
    refuse(isTooShort && !hasLastDay ? noLastDay : wrong, compared)
  }
  refuseLongWalk(both, context)
  refuseOpenThings(both, context)
}

/** Sightings at several places, on days before and after the turn of a year, with numbers of one and of two digits. */
function randomSightings(random) {
  const place = random.word(4)
  const places = [place, `${place}s`, random.word(4)]
  const start = Date.UTC(2026, 11, 28 + random.integer(0, 2))
  const days = Array.from({ length: 7 }, (_, index) => new Date(start + index * 24 * 60 * 60 * 1000))
  const sightings = places.flatMap((each) =>
    days.flatMap((day) => {
      const numbers = [random.integer(1, 4), random.integer(5, 9), random.integer(10, 99)]
      return numbers.map((number) => [each, day, number, random.word(6)])
    })
  )
  const from = random.integer(0, 2)
  const to = random.integer(3, 5)
  return { sightings: random.shuffled(sightings), question: [place, days[from], days[to]] }
}

function birdsOf(sightings, place, day) {
  const some = sightings.filter(([ofPlace, ofDay]) => ofPlace === place && ofDay.getTime() === day.getTime())
  return some.map(([, , , bird]) => bird)
}

const noFunction = {
  en: 'Your module does not export a function seen.',
  de: 'Dein Modul exportiert keine Funktion seen.'
}

const noEncoding = {
  en: 'Your options do not have bytewise as keyEncoding. Other encodings make text of a key, and numbers in a text do not sort by value.',
  de: 'Deine Optionen haben nicht bytewise als keyEncoding. Andere Kodierungen machen aus einem Schlüssel Text, und Zahlen in einem Text ordnen sich nicht nach ihrem Wert.'
}

const wrongKeys = {
  en: 'The keys are not arrays of the place, the day as a Date, and the number.',
  de: 'Die Schlüssel sind nicht Arrays aus Ort, Tag als Date und Nummer.'
}

const noLastDay = {
  en: 'The birds of the last day are missing. Their keys, [place, last, number], come after [place, last]: let the range go beyond it.',
  de: 'Die Vögel des letzten Tages fehlen. Ihre Schlüssel, [place, last, number], kommen nach [place, last]: Der Bereich muss weiter reichen.'
}

const wrong = {
  en: 'The birds that seen() returns are wrong.',
  de: 'Die Vögel, die seen() zurückgibt, sind falsch.'
}
