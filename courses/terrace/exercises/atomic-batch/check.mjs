import { allow, callBoth, repeatedHarness } from '../../support/judge.mjs'

const options = { valueEncoding: 'json' }

export const example = {
  with: {
    entries: [
      ['anna', 500],
      ['björn', 80]
    ],
    calls: [
      ['anna', 'björn', 200],
      ['anna', 'björn', 900]
    ],
    options
  },
  harness: repeatedHarness,
  allow
}

export default async function check(context) {
  const { random, refuse, expectEqual } = context
  const entries = Array.from({ length: 4 }, () => [random.word(5), random.integer(100, 900)])
  const [[anna, has], [bjorn], [carla, all], [david]] = entries
  const amount = random.integer(1, 50)
  const calls = [
    [anna, bjorn, amount],
    [anna, bjorn, 2000],
    [carla, david, all]
  ]
  const { own, reference } = await callBoth(
    context,
    { entries, calls, options },
    { harness: repeatedHarness }
  )

  const [usual, tooMuch, everything] = own.returned.map((returned, index) => ({
    compared: { expected: reference.returned[index], actual: returned },
    isRight: returned === reference.returned[index],
    writes: own.writesOf[index]
  }))
  if (!usual.isRight) refuse(notMoved(amount, has), usual.compared)
  if (!tooMuch.isRight) refuse(moreThanThereIs, tooMuch.compared)
  if (tooMuch.writes.length > 0) refuse(needless)
  if (!everything.isRight) refuse(notEverything, everything.compared)
  const [expected, actual] = [reference, own].map(({ contents }) => Object.fromEntries(contents))
  if (Object.values(actual).some((value) => value.startsWith('"'))) refuse(text, { expected, actual })
  expectEqual(actual, expected, wrong)

  const { length } = usual.writes
  if (length > 1) refuse(torn(length))
}

const notMoved = (amount, has) => ({
  en: `Your function does not return true, although ${amount} of ${has} grams can be moved.`,
  de: `Deine Funktion gibt nicht true zurück, obwohl ${amount} von ${has} Gramm übertragen werden können.`
})

const moreThanThereIs = {
  en: 'Your function is to move more than there is, and must return false then.',
  de: 'Deine Funktion soll mehr übertragen, als da ist, und muss dann false zurückgeben.'
}

const needless = {
  en: 'Your function writes where nothing is to be moved. A write that changes nothing costs as much as one that does.',
  de: 'Deine Funktion schreibt, obwohl nichts zu übertragen ist. Auch ein Schreibvorgang, der nichts ändert, kostet.'
}

const notEverything = {
  en: 'Your function refuses to move everything that a member has. That is allowed: nothing is left then.',
  de: 'Deine Funktion weigert sich, alles zu übertragen, was ein Mitglied hat. Das ist erlaubt: Dann bleibt nichts.'
}

const text = {
  en: 'Your function stores text instead of a number.',
  de: 'Deine Funktion speichert Text statt einer Zahl.'
}

const wrong = {
  en: 'What the members have afterwards is wrong.',
  de: 'Was die Mitglieder danach haben, stimmt nicht.'
}

const torn = (count) => ({
  en: `The result is right, but your function makes ${count} writes. If the program ends between them, seed is lost. Make both changes in one db.batch().`,
  de: `Das Ergebnis stimmt, aber deine Funktion schreibt ${count}-mal. Endet das Programm dazwischen, geht Futter verloren. Mach beides in einem db.batch().`
})
