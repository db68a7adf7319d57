import { isDeepStrictEqual } from 'node:util'
import { allow, callBoth, refuseLongWalk, refuseOpenThings } from '../../support/judge.mjs'

const harness = new URL('./harness.mjs', import.meta.url)

export const example = {
  with: {
    entries: [
      ['place!hill', 1],
      ['place!lake', 2],
      ['total', 3]
    ],
    changes: [
      [
        { type: 'put', key: 'place!lake', value: 5 },
        { type: 'put', key: 'total', value: 6 }
      ]
    ],
    printable: 1
  },
  harness,
  allow
}

export default async function check(context) {
  const { random, refuse } = context
  const data = randomData(random)
  const { own, reference } = await callBoth(context, data, { harness })

  const { lines, snapshots, reads, cursors } = own.whole
  const isRight = isDeepStrictEqual(lines, reference.whole.lines)
  const compared = isRight ? undefined : { expected: reference.whole.lines, actual: lines }
  if (isRight || lines.length > 1) {
    if (snapshots.length === 0) refuse(isRight ? luckily : noSnapshot, compared)
    if (snapshots.length > 1) refuse(severalSnapshots, compared)
    if ([...reads, ...cursors].some(({ hasSnapshot }) => !hasSnapshot)) refuse(withoutIt, compared)
  }
  if (!isRight) refuse(wrong, compared)
  if (reads.length > 1) refuse(singleReads)
  refuseLongWalk({ own: own.whole, reference: reference.whole }, context)
  refuseOpenThings({ own: own.whole }, context)

  if (!own.failing.hasFailed) refuse(hidesFailure)
  if ([...own.failing.snapshots, ...own.failing.cursors].some(({ isClosed }) => !isClosed))
    refuse(openAfterFailure)
}

/** Places with their birds, other entries, and what others write while a report is printed. */
function randomData(random) {
  const places = Array.from({ length: random.integer(4, 7) }, () => random.word(5))
  const counts = new Map(places.map((place) => [place, random.integer(1, 20)]))
  const others = Array.from({ length: 20 }, () => [`bird!${random.word(5)}`, random.integer(1, 9)])
  const entries = [...others, ...stored(counts)]
  // Before each line a place that is there gets one more bird, and a new place comes.
  const changes = places.map((place) => {
    counts.set(place, counts.get(place) + 1)
    counts.set(random.word(6), random.integer(1, 20))
    return stored(counts).map(([key, value]) => ({ type: 'put', key, value }))
  })
  return { entries, changes, printable: random.integer(1, places.length - 1) }
}

function stored(counts) {
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0)
  return [['total', total], ...[...counts].map(([place, count]) => [`place!${place}`, count])]
}

const wrong = {
  en: 'The report has wrong lines.',
  de: 'Der Bericht hat falsche Zeilen.'
}

const noSnapshot = {
  en: 'The report does not fit together: a write came between your reads, so the sum and the places are from different moments. Take a snapshot, and pass it to both reads.',
  de: 'Der Bericht passt nicht zusammen: Zwischen deinen Lesevorgängen hat jemand geschrieben, die Summe ist also aus einem anderen Moment als die Orte. Mach einen Snapshot und gib ihn beiden Lesevorgängen mit.'
}

const luckily = {
  en: 'The report is right, but without a snapshot that is luck: no write came between your reads this time. Take a snapshot, and pass it to both reads.',
  de: 'Der Bericht stimmt, aber ohne Snapshot ist das Glück: Diesmal hat zwischen deinen Lesevorgängen niemand geschrieben. Mach einen Snapshot und gib ihn beiden Lesevorgängen mit.'
}

const severalSnapshots = {
  en: 'Your function takes several snapshots, and each keeps another state. One is enough for all reads.',
  de: 'Deine Funktion macht mehrere Snapshots, und jeder bewahrt einen anderen Zustand. Einer genügt für alle Lesevorgänge.'
}

const withoutIt = {
  en: 'Your function takes a snapshot, but one of its reads does not use it. Pass it as the option snapshot to get() and to the iterator.',
  de: 'Deine Funktion macht einen Snapshot, aber einer ihrer Lesevorgänge benutzt ihn nicht. Gib ihn get() und dem Iterator als Option snapshot mit.'
}

const singleReads = {
  en: 'The report is right, but your function reads the places one by one. iterator() delivers keys and values together.',
  de: 'Der Bericht stimmt, aber deine Funktion liest die Orte einzeln. iterator() liefert Schlüssel und Werte zusammen.'
}

const hidesFailure = {
  en: 'The printer has failed, and your function ends as if all were well. Let the error pass.',
  de: 'Der Drucker hat versagt, und deine Funktion endet, als wäre alles gut. Lass den Fehler durch.'
}

const openAfterFailure = {
  en: 'When the printer fails, your function leaves the snapshot open. Close it in a finally block, which runs in any case.',
  de: 'Wenn der Drucker versagt, lässt deine Funktion den Snapshot offen. Schließe ihn in einem finally-Block, der in jedem Fall läuft.'
}
