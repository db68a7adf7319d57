import { allow, callBoth } from '../../support/judge.mjs'

const harness = new URL('./harness.mjs', import.meta.url)

const entries = [
  ['gull', 'white, loud'],
  ['kite', '']
]

export const example = { with: { entries, birds: ['kite', 'dodo', 'gull'] }, harness, allow }

export default async function check(context) {
  const { random, refuse, expectEqual } = context
  const described = Array.from({ length: 12 }, () => [random.word(6), random.word(9)])
  const [empty, missing] = [random.word(5), random.word(5)]
  const asked = described.slice(0, random.integer(2, 5)).map(([bird]) => bird)
  const birds = random.shuffled([empty, missing, ...asked])

  const data = { entries: [...described, [empty, '']], birds }
  const { own, reference } = await callBoth(context, data, { harness })
  const compared = { expected: reference.returned, actual: own.returned }
  if (Array.isArray(own.returned)) {
    if (own.returned[birds.indexOf(missing)] === undefined) refuse(notReplaced, compared)
    const knowsSome = own.returned.some((note) => note !== '?')
    if (knowsSome && own.returned[birds.indexOf(empty)] === '?') refuse(replacedEmpty, compared)
  }
  expectEqual(own.returned, reference.returned, wrong(birds))
  if (own.cursors.length > 0) refuse(walks)
  if (own.reads.length > reference.reads.length) refuse(tooManyReads(own.reads.length))

  if (own.known === undefined) refuse(noSecond)
  for (const [index, bird] of birds.entries()) {
    const [expected, actual] = [reference, own].map(({ known }) => known.returned[index])
    if (actual !== expected) refuse(wrongAbout(bird), { expected, actual })
  }
  if (own.known.cursors.length > 0) refuse(walks)
  if (own.known.reads.some(({ call }) => call.startsWith('get'))) refuse(reads)
}

const wrong = (birds) => ({
  en: `The notes about ${birds.join(', ')} are wrong.`,
  de: `Die Notizen zu ${birds.join(', ')} stimmen nicht.`
})

const notReplaced = {
  en: "The value of a key that is missing is undefined, which you are to replace with '?'. It is not an error.",
  de: "Der Wert zu einem Schlüssel, der fehlt, ist undefined; setz dafür '?' ein. Ein Fehler ist das nicht."
}

const replacedEmpty = {
  en: "An empty note is a note. Your function takes it for one that is missing: only undefined is to become '?'.",
  de: "Auch eine leere Notiz ist eine Notiz. Deine Funktion hält sie für fehlend: Nur undefined soll '?' werden."
}

const walks = {
  en: 'The result is right, but your function walks over the database. Ask for the keys that you know.',
  de: 'Das Ergebnis stimmt, aber deine Funktion läuft über die Datenbank. Frag nach den Schlüsseln, die du kennst.'
}

const tooManyReads = (count) => ({
  en: `The notes are right, but your function asks the database ${count} times. db.getMany(keys) asks once.`,
  de: `Die Notizen stimmen, aber deine Funktion fragt die Datenbank ${count}-mal. db.getMany(keys) fragt einmal.`
})

const noSecond = {
  en: 'The notes are right. Your module must export a second function, isKnown.',
  de: 'Die Notizen stimmen. Dein Modul muss noch eine zweite Funktion exportieren, isKnown.'
}

const wrongAbout = (bird) => ({
  en: `isKnown is wrong for a bird: ${bird}.`,
  de: `isKnown irrt sich bei einem Vogel: ${bird}.`
})

const reads = {
  en: 'isKnown needs no note: db.has(key) says whether there is one.',
  de: 'isKnown braucht die Notiz nicht: db.has(key) sagt, ob es eine gibt.'
}
