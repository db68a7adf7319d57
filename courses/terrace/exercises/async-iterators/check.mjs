import { callBoth, entriesWalked, exampleOf, refuseOpenThings } from '../../support/judge.mjs'

const BIRDS = ['gull', 'tern', 'kite', 'heron', 'wren']

export const example = exampleOf({
  entries: [
    ['0007', 'gull'],
    ['0008', 'tern'],
    ['0009', 'kite'],
    ['0010', 'gull']
  ]
})

export default async function check(context) {
  const { random } = context
  const first = random.integer(1, 5000)
  const sightings = (count) =>
    Array.from({ length: count }, (_, index) => [String(first + index).padStart(4, '0'), random.pick(BIRDS)])
  await judge(context, sightings(random.integer(60, 90)), wrong)
  await judge(context, sightings(2), wrongForFew)
}

async function judge(context, entries, otherwise) {
  const { refuse, expectEqual } = context
  const both = await callBoth(context, { entries })
  const { own, reference } = both
  const [expected, actual] = [reference.returned, own.returned]
  const has = (list) => JSON.stringify(actual) === JSON.stringify(list)
  if (entries.length > 3 && has(entries.slice(0, 3))) refuse(oldest, { expected, actual })
  if (has([...expected].reverse())) refuse(wrongOrder, { expected, actual })
  expectEqual(actual, expected, otherwise)

  const walked = entriesWalked(own)
  if (walked > entriesWalked(reference)) {
    refuse(walked === entries.length ? readsAll(walked) : readsAhead(walked))
  }
  if (own.cursors.length > reference.cursors.length || own.reads.length > 0) refuse(manyWalks)
  refuseOpenThings(both, context)
}

const wrong = {
  en: 'These are not the last three entries, the newest first.',
  de: 'Das sind nicht die letzten drei Einträge, der neueste zuerst.'
}

const wrongForFew = {
  en: 'If there are fewer than three entries, your function is to return those that there are.',
  de: 'Gibt es weniger als drei Einträge, soll deine Funktion die zurückgeben, die es gibt.'
}

const oldest = {
  en: 'These three entries are the first ones. With reverse: true, an iterator begins at the end.',
  de: 'Diese drei Einträge sind die ersten. Mit reverse: true beginnt ein Iterator am Ende.'
}

const wrongOrder = {
  en: 'The entries are right, but in the wrong order: the newest is to be the first.',
  de: 'Die Einträge stimmen, aber ihre Reihenfolge nicht: Der neueste soll der erste sein.'
}

const readsAll = (count) => ({
  en: `The result is right, but your function reads all entries, ${count} of them, for three. Give the iterator { reverse: true, limit: 3 }.`,
  de: `Das Ergebnis stimmt, aber deine Funktion liest für drei Einträge alle ${count}. Gib dem Iterator { reverse: true, limit: 3 }.`
})

const readsAhead = (count) => ({
  en: `The result is right, but the database reads ${count} entries, since it reads ahead. Only limit tells it that you want no more than three.`,
  de: `Das Ergebnis stimmt, aber die Datenbank liest ${count} Einträge, weil sie vorausliest. Nur limit sagt ihr, dass du nicht mehr als drei willst.`
})

const manyWalks = {
  en: 'The result is right, but your function asks several times. One iterator with limit: 3 finds all three entries.',
  de: 'Das Ergebnis stimmt, aber deine Funktion fragt mehrmals. Ein Iterator mit limit: 3 findet alle drei Einträge.'
}
