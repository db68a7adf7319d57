import { allow, callBoth, repeatedHarness } from '../../support/judge.mjs'

export const example = {
  with: {
    entries: [['gull', '{"place":"harbour","count":3}']],
    calls: [
      ['gull', { place: 'pier', count: 1 }],
      ['kite', { place: 'hill', count: 2 }]
    ]
  },
  harness: repeatedHarness,
  allow
}

export default async function check(context) {
  const { random, refuse, expectEqual } = context
  const sighting = () => ({
    place: random.word(6),
    count: random.integer(1, 9),
    watchers: [random.word(4), random.word(5)]
  })
  const known = Array.from({ length: 3 }, () => [random.word(5), sighting()])
  const entries = known.map(([bird, seen]) => [bird, JSON.stringify(seen)])
  const birds = random.shuffled([known[1][0], random.word(7)])

  const calls = birds.map((bird) => [bird, sighting()])
  const { own, reference } = await callBoth(context, { entries, calls }, { harness: repeatedHarness })

  for (const [index, [bird, given]] of calls.entries()) {
    const [stored, expected] = [own, reference].map(({ contents }) => new Map(contents).get(bird))
    if (stored === String(given)) refuse(asText(bird))
    if (stored === JSON.stringify(JSON.stringify(given))) refuse(twice, { expected, actual: stored })
    expectEqual(stored, expected, notStored(bird))

    const [actual, before] = [own, reference].map(({ returned }) => returned[index])
    if (before !== undefined && actual === JSON.stringify(before)) refuse(text, { expected: before, actual })
    if (JSON.stringify(actual) === JSON.stringify(given)) refuse(newOne, { expected: before, actual })
    expectEqual(actual, before, wrong(bird))
  }
  expectEqual(own.contents, reference.contents, others)
  if (own.reads.length > calls.length || own.cursors.length > 0) refuse(manyReads)
  if (own.writes.length > calls.length) refuse(manyWrites)
}

const asText = (bird) => ({
  en: `The key ${bird} has the value [object Object]: put has taken the object for text. Give it { valueEncoding: 'json' }.`,
  de: `Der Schlüssel ${bird} hat den Wert [object Object]: put hat das Objekt für Text gehalten. Gib { valueEncoding: 'json' } an.`
})

const twice = {
  en: "The sighting was turned into JSON twice. With { valueEncoding: 'json' }, put makes the JSON; give it the object itself.",
  de: "Aus der Beobachtung wurde zweimal JSON. Mit { valueEncoding: 'json' } macht put das JSON; gib ihm das Objekt selbst."
}

const notStored = (bird) => ({
  en: `The sighting of ${bird} is not stored as JSON under its name.`,
  de: `Die Beobachtung von ${bird} ist nicht als JSON unter seinem Namen gespeichert.`
})

const text = {
  en: "Your function returns text, not an object. get needs { valueEncoding: 'json' } as well.",
  de: "Deine Funktion gibt Text zurück, kein Objekt. Auch get braucht { valueEncoding: 'json' }."
}

const newOne = {
  en: 'Your function returns the sighting that it has just stored, not the one before.',
  de: 'Deine Funktion gibt die Beobachtung zurück, die sie gerade gespeichert hat, nicht die vorige.'
}

const wrong = (bird) => ({
  en: `The sighting of ${bird} is stored, but what your function returns is not the one before.`,
  de: `Die Beobachtung von ${bird} ist gespeichert, aber was deine Funktion zurückgibt, ist nicht die vorige.`
})

const others = {
  en: 'Your function changes other entries as well.',
  de: 'Deine Funktion ändert auch andere Einträge.'
}

const manyReads = {
  en: 'The result is right, but your function reads too much. One get is enough: undefined already says that there was no sighting before.',
  de: 'Das Ergebnis stimmt, aber deine Funktion liest zu viel. Ein get genügt: undefined sagt schon, dass es vorher keine Beobachtung gab.'
}

const manyWrites = {
  en: 'The result is right, but your function writes too often. One put is enough: it replaces the value that was there.',
  de: 'Das Ergebnis stimmt, aber deine Funktion schreibt zu oft. Ein put genügt: Es ersetzt den Wert, der da war.'
}
