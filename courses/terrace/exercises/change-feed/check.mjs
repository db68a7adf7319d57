import { isDeepStrictEqual } from 'node:util'
import { allow, callBoth } from '../../support/judge.mjs'

const harness = new URL('harness.mjs', import.meta.url)

const BIRDS = '!birds!'

const put = (key, value) => ({ type: 'put', key, value })
const del = (key) => ({ type: 'del', key })

export const example = {
  with: {
    before: [
      [put('gull', 'harbour'), put('kite', 'hill')],
      [put('owl', 'barn'), del('gull')]
    ],
    after: [[put('tern', 'harbour')]],
    cut: 3
  },
  harness,
  allow
}

export default async function check(context) {
  const { random, refuse } = context
  const both = await callBoth(context, source(random), { harness })
  const { own, reference } = both

  for (const call of ['again', 'later']) {
    const [actual, expected] = [own[call], reference[call]].map(birdsOf)
    if (isDeepStrictEqual(actual, expected)) continue
    const hasTooMany = expected.every((entry) => actual.some((each) => isDeepStrictEqual(each, entry)))
    refuse(hasTooMany ? deletions : wrong, { expected, actual })
  }

  const [actual, expected] = [own.interrupted, reference.interrupted].map(birdsOf)
  if (actual.length === 0) refuse(nothingYet)
  if (!isDeepStrictEqual(actual, expected)) refuse(half, { expected, actual })
  if (Object.values(own).some(({ writes }) => writes.some(isWithoutNumber))) refuse(apart)
  for (const call of ['again', 'later']) {
    if (own[call].delivered > reference[call].delivered) refuse(repeated(own[call], reference[call]))
  }
}

/** Batches of sightings, and where to interrupt: after the first change of the third batch. */
function source(random) {
  const [a, b, c, d, e, f] = new Set(Array.from({ length: 30 }, () => random.word(4)))
  const seen = (bird) => put(bird, random.word(6))
  const before = [[seen(a), seen(b)], [seen(c)], [seen(d), ...random.shuffled([del(a), seen(e)])], [seen(b)]]
  const after = random.shuffled([[del(c)], [seen(f), del(d)], [seen(b), seen(e)]])
  return { before, after, cut: 4 }
}

const birdsOf = ({ contents }) => contents.filter(([key]) => key.startsWith(BIRDS))

/** Whether a write changes the copy, and nothing but the copy. */
const isWithoutNumber = ({ operations }) =>
  operations.length > 0 && operations.every(({ key }) => key.startsWith(BIRDS))

const wrong = {
  en: 'After your function the sublevel birds is not the same as the source.',
  de: 'Nach deiner Funktion ist das Sublevel birds nicht dasselbe wie die Quelle.'
}

const deletions = {
  en: 'The copy still has birds that were deleted in the source. A change of the type del deletes its key.',
  de: 'Die Kopie hat noch Vögel, die in der Quelle gelöscht wurden. Eine Änderung vom Typ del löscht ihren Schlüssel.'
}

const nothingYet = {
  en: 'Your function was stopped after four changes, and had written nothing. A feed may be long: write after each change that is the last of its batch.',
  de: 'Deine Funktion wurde nach vier Änderungen angehalten und hatte noch nichts geschrieben. Ein Feed kann lang sein: Schreib nach jeder Änderung, die die letzte ihres Batches ist.'
}

const half = {
  en: 'Your function was stopped in the middle of a batch, and the copy shows a half of it. Write nothing before the change that has last: true, and then all of them in one batch.',
  de: 'Deine Funktion wurde mitten in einem Batch angehalten, und die Kopie zeigt ihn halb. Schreib erst bei der Änderung mit last: true, und dann alle in einem Batch.'
}

const apart = {
  en: 'Your function writes changes, and their number in another write. If it dies between the two, they do not match: put both into one batch.',
  de: 'Deine Funktion schreibt Änderungen, und ihre Nummer für sich. Stürzt sie dazwischen ab, passen beide nicht zusammen: Schreib sie in einem Batch.'
}

const repeated = ({ delivered }, { delivered: needed }) => ({
  en: `The copy is right, but when it was called again your function read ${delivered} changes, and ${needed} were new. Store the number of the last applied change, and pass it as after.`,
  de: `Die Kopie stimmt, aber beim nächsten Aufruf hat deine Funktion ${delivered} Änderungen gelesen, und nur ${needed} waren neu. Speichere die Nummer der letzten angewendeten Änderung und gib sie als after an.`
})
