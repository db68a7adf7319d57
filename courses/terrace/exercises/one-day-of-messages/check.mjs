import { callBoth, exampleOf, refuseLongWalk, refuseOpenThings } from '../../support/judge.mjs'

const DAY_MS = 24 * 60 * 60 * 1000

export const example = exampleOf({
  entries: [
    ['2026-03-09T07:45:00.000Z', 'good morning'],
    ['2026-03-09T23:59:59.120Z', 'did you hear the owl?'],
    ['2026-03-10T00:00:00.000Z', 'no']
  ],
  inputs: ['2026-03-09']
})

export default async function check(context) {
  const { random, refuse, expectEqual } = context
  // The last day of a month, so that the next day is not one more.
  const midnight = Date.UTC(random.integer(2020, 2030), random.integer(1, 12), 0)
  const at = (ms) => [new Date(midnight + ms).toISOString(), random.word(6)]
  const onDay = (offset, count) =>
    Array.from({ length: count }, () => at(offset * DAY_MS + random.integer(1000, DAY_MS - 2000)))

  const [first, last, next] = [at(0), at(DAY_MS - random.integer(1, 900)), at(DAY_MS)]
  const others = [-400, -31, -2, -1, 1, 2, 30].flatMap((offset) => onDay(offset, random.integer(2, 6)))
  const entries = [first, ...onDay(0, random.integer(2, 4)), last, next, ...others]
  const [day] = first[0].split('T')

  const both = await callBoth(context, { entries, inputs: [day] })
  const [expected, actual] = [both.reference.returned, both.own.returned]
  const isWithout = (message) =>
    isSame(
      actual,
      expected.filter((each) => each !== message)
    )
  if (isWithout(last[1])) refuse(lastMissing(last), { expected, actual })
  if (isWithout(first[1])) refuse(firstMissing(first), { expected, actual })
  if (isSame(actual, [...expected, next[1]])) refuse(nextDay(next), { expected, actual })
  if (isSame(actual, [...expected].reverse())) refuse(wrongOrder, { expected, actual })
  if (Array.isArray(actual?.[0])) refuse(keysToo, { expected, actual })
  expectEqual(actual, expected, wrong(day))
  refuseLongWalk(both, context)
  refuseOpenThings(both, context)
}

const isSame = (one, other) => JSON.stringify(one) === JSON.stringify(other)

const wrong = (day) => ({
  en: `These are not the messages of ${day}, in the order of their times.`,
  de: `Das sind nicht die Nachrichten vom ${day} in der Reihenfolge ihrer Zeiten.`
})

const lastMissing = ([time]) => ({
  en: `A message of the last second of the day is missing, that of ${time}. Do not look for the last moment of a day: give lt something that comes after it.`,
  de: `Eine Nachricht aus der letzten Sekunde des Tages fehlt, die von ${time}. Such nicht nach dem letzten Augenblick eines Tages: Gib lt etwas, was danach kommt.`
})

const firstMissing = ([time]) => ({
  en: `The message of the first moment of the day is missing, that of ${time}. gte takes in the bound itself, gt does not.`,
  de: `Die Nachricht vom ersten Augenblick des Tages fehlt, die von ${time}. Bei gte gehört die Grenze dazu, bei gt nicht.`
})

const nextDay = ([time]) => ({
  en: `The message of ${time} belongs to the next day. lte takes in the bound itself, lt does not.`,
  de: `Die Nachricht von ${time} gehört zum nächsten Tag. Bei lte gehört die Grenze dazu, bei lt nicht.`
})

const wrongOrder = {
  en: 'The messages are right, but in the wrong order: the earliest is to be the first.',
  de: 'Die Nachrichten stimmen, aber ihre Reihenfolge nicht: Die früheste soll die erste sein.'
}

const keysToo = {
  en: 'Return the messages, not their keys: db.values() walks over values alone.',
  de: 'Gib die Nachrichten zurück, nicht ihre Schlüssel: db.values() läuft nur über Werte.'
}
