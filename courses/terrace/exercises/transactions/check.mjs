import { allow, callBoth } from '../../support/judge.mjs'

const harness = new URL('harness.mjs', import.meta.url)

export const example = {
  with: {
    entries: [
      ['fence', 0],
      ['oak', 100]
    ],
    alone: ['oak', 'fence', 10],
    filled: 10,
    pours: [
      ['oak', 'fence', 30],
      ['oak', 'fence', 20]
    ],
    tooMuch: ['oak', 'fence', 60]
  },
  harness,
  allow
}

export default async function check(context) {
  const { random, refuse, expectEqual } = context
  const names = [...new Set(Array.from({ length: 12 }, () => random.word(4)))].slice(0, 3)
  const entries = names.map((name) => [name, random.integer(500, 900)])
  const pours = Array.from({ length: 8 }, () => {
    const [from, to] = random.shuffled(names)
    return [from, to, random.integer(1, 50)]
  })
  const [from, to] = random.shuffled(names)
  const alone = [from, to, random.integer(1, 50)]
  const tooMuch = [from, to, random.integer(10_000, 20_000)]
  const data = { entries, alone, filled: random.integer(51, 99), pours, tooMuch }

  const { own, reference } = await callBoth(context, data, { harness })
  const [there, expected] = [own, reference].map(({ contents }) => contents.map(([, grams]) => Number(grams)))
  if (there.some((grams) => grams < 0)) refuse(belowZero)
  if (!own.returned) refuse(notTold)
  const [sum, expectedSum] = [there, expected].map((each) => each.reduce((total, grams) => total + grams, 0))
  if (sum !== expectedSum) {
    refuse(own.hasReadOutside ? readOutside : sumWrong, { expected: expectedSum, actual: sum })
  }
  expectEqual(own.contents, reference.contents, wrong)
  if (halves(own) > halves(reference)) refuse(twoTransactions)
}

/** How many writes change one feeder alone. */
const halves = ({ writes }) => writes.filter(({ operations }) => operations.length === 1).length

const belowZero = {
  en: 'Your function poured more seed than there was. Throw an error if the feeder has too little.',
  de: 'Deine Funktion hat mehr Futter ausgeschüttet, als da war. Wirf einen Fehler, wenn das Haus zu wenig hat.'
}

const notTold = {
  en: 'A feeder had too little seed, but your function did not say so. Throw an error in the transaction, and return its promise, so that the caller gets it.',
  de: 'Ein Haus hatte zu wenig Futter, aber deine Funktion hat das nicht gesagt. Wirf in der Transaktion einen Fehler und gib ihr Promise zurück, damit der Aufrufer ihn bekommt.'
}

const sumWrong = {
  en: 'The sum of the seed in all feeders is wrong. What one feeder loses, the other must gain.',
  de: 'Die Summe des Futters in allen Häusern ist falsch. Was einem Haus fehlt, muss im anderen dazukommen.'
}

const readOutside = {
  en: 'Updates were lost: the sum of the seed in all feeders is wrong. Your function reads from db itself, so a change by another writer goes unnoticed. Read by tx.get, in a transaction.',
  de: 'Updates gingen verloren: Die Summe des Futters in allen Häusern ist falsch. Deine Funktion liest aus db selbst, also bleibt unbemerkt, wenn jemand anderes das Gelesene ändert. Lies mit tx.get, in einer Transaktion.'
}

const wrong = {
  en: 'The sum of the seed is right, but it is in the wrong feeders.',
  de: 'Die Summe des Futters stimmt, aber es ist in den falschen Häusern.'
}

const twoTransactions = {
  en: 'Your function takes the seed in one transaction and adds it in another. If the process dies between them, the seed is gone: use one transaction for both.',
  de: 'Deine Funktion nimmt das Futter in einer Transaktion weg und gibt es in einer anderen dazu. Stürzt der Prozess dazwischen ab, ist es weg: Nimm eine Transaktion für beides.'
}
