import { allow, callBoth, refuseLongWalk, refuseOpenThings } from '../../support/judge.mjs'

const harness = new URL('./harness.mjs', import.meta.url)

const SIGHTINGS = 3000

export const example = {
  with: {
    entries: [
      ['hill!00000', '2 kites'],
      ['hill!00001', '1 wren'],
      ['lake!00000', '4 terns']
    ],
    place: 'hill',
    failAfter: 20
  },
  harness,
  allow
}

export default async function check(context) {
  const { random, refuse } = context
  const place = random.word(4)
  const entries = randomEntries(random, place)
  const { own, reference } = await callBoth(
    context,
    { entries, place, failAfter: random.integer(1000, 20_000) },
    { harness }
  )

  const { text, isFinished, mostAhead, ignoredFull } = own.whole
  if (!isFinished) refuse(notFinished)
  if (text !== reference.whole.text) refuse(wrong(place), { expected: reference.whole.text, actual: text })
  refuseLongWalk({ own: own.whole, reference: reference.whole }, context)
  if (mostAhead > SIGHTINGS / 2) refuse(collects(mostAhead))
  if (ignoredFull > 0) refuse(floods(ignoredFull))
  refuseOpenThings({ own: own.whole }, context)

  if (!own.failing.hasFailed) refuse(hidesFailure)
  if (own.failing.cursors.some(({ isClosed }) => !isClosed)) refuse(openAfterFailure)
}

function randomEntries(random, place) {
  const sightings = Array.from({ length: SIGHTINGS }, (_, index) => {
    const number = String(index).padStart(5, '0')
    return [`${place}!${number}`, `${random.integer(1, 9)} ${random.word(40)}`]
  })
  const others = [`${place}s`, random.word(5)].flatMap((other) =>
    Array.from({ length: 50 }, () => [`${other}!${random.word(6)}`, random.word(9)])
  )
  return [...sightings, ...others]
}

const notFinished = {
  en: 'Your function is done before the output is: what was written last may never arrive. End the output, and wait until it has finished.',
  de: 'Deine Funktion ist fertig, bevor die Ausgabe es ist: Was zuletzt geschrieben wurde, kommt vielleicht nie an. Beende die Ausgabe und warte, bis sie fertig ist.'
}

const wrong = (place) => ({
  en: `The lines for ${place} are wrong.`,
  de: `Die Zeilen für ${place} sind falsch.`
})

const collects = (count) => ({
  en: `The lines are right, but at one moment your function had read ${count} entries that it had not written. With a large place, memory would not suffice: write each line as soon as its entry has been read.`,
  de: `Die Zeilen stimmen, aber zwischendurch hatte deine Funktion ${count} Einträge gelesen und noch nicht geschrieben. Bei einem großen Ort reicht der Speicher dafür nicht: Schreib jede Zeile, sobald ihr Eintrag gelesen ist.`
})

const floods = (count) => ({
  en: `The lines are right, but your function wrote ${count} times although the output was full, so the lines pile up in memory. pipeline waits until there is room.`,
  de: `Die Zeilen stimmen, aber deine Funktion hat ${count}-mal geschrieben, obwohl die Ausgabe voll war, also stauen sich die Zeilen im Speicher. pipeline wartet, bis Platz ist.`
})

const hidesFailure = {
  en: 'The output has failed (a full disk), and your function ends as if all were well. Its promise must be rejected with that error.',
  de: 'Die Ausgabe ist fehlgeschlagen (eine volle Platte), und deine Funktion endet, als wäre alles gut. Ihr Promise muss mit diesem Fehler scheitern.'
}

const openAfterFailure = {
  en: 'When the output fails (a full disk), your function leaves the iterator open. pipeline closes it, whichever part fails.',
  de: 'Wenn die Ausgabe fehlschlägt (eine volle Platte), lässt deine Funktion den Iterator offen. pipeline schließt ihn, welcher Teil auch immer fehlschlägt.'
}
