import { isDeepStrictEqual } from 'node:util'
import { callBoth, entriesWalked, exampleOf, refuseOpenThings } from '../../support/judge.mjs'

const SPECIES = ['robin', 'wren', 'blackcap', 'siskin', 'dunnock', 'bullfinch']

export const example = exampleOf({
  entries: [
    ['!waiting!hopper', 'robin'],
    ['!waiting!tiny', 'wren']
  ],
  inputs: ['hopper', 'AX41']
})

export default async function check(context) {
  const { random, refuse } = context
  const name = random.word(6)
  const number = `AX${random.integer(10, 99)}`
  const others = Array.from({ length: random.integer(3, 6) }, () => random.word(5))
  const entries = [
    [`!ringed!AA${random.integer(10, 99)}`, JSON.stringify({ name: random.word(5), species: 'wren' })],
    ...[name, ...others].map((each) => [`!waiting!${each}`, random.pick(SPECIES)])
  ]

  const both = await callBoth(context, { entries, inputs: [name, number] })
  const { own, reference } = both
  const stored = [own, reference].map(({ contents }) => parsed(contents))
  if (!isDeepStrictEqual(...stored)) {
    const compared = { expected: reference.contents, actual: own.contents }
    refuse(reasonOf(own.contents, { name, number }), compared)
  }
  if (own.writes.length > 1) refuse(severalWrites(own.writes.length))
  if (entriesWalked(own) > 0) refuse(walks)
  refuseOpenThings(both, context)
}

/** Contents in which the order of an object's properties does not matter. */
const parsed = (contents) =>
  contents.map(([key, value]) => [key, key.startsWith('!ringed!') ? objectOf(value) : value])

function objectOf(json) {
  try {
    return JSON.parse(json)
  } catch {
    return json
  }
}

/** Why the contents are wrong. */
function reasonOf(contents, { name, number }) {
  const stored = new Map(contents)
  if (contents.some(([key]) => !/^!(waiting|ringed)!/.test(key))) return beside
  if (!stored.has(`!ringed!${number}`)) return notRinged(name, number)
  if (stored.has(`!waiting!${name}`)) return stillWaiting(name)
  return wrong
}

const beside = {
  en: 'Something is stored beside both sublevels. Give each operation of the batch the option sublevel.',
  de: 'Es wurde etwas neben den beiden Sublevels gespeichert. Gib jeder Operation des Batches die Option sublevel.'
}

const notRinged = (name, number) => ({
  en: `The bird ${name} is not found in ringed under the number ${number}.`,
  de: `Der Vogel ${name} steht nicht unter der Nummer ${number} in ringed.`
})

const stillWaiting = (name) => ({
  en: `The bird ${name} has its ring, but it is still waiting as well.`,
  de: `Der Vogel ${name} hat seinen Ring, steht aber immer noch auch in waiting.`
})

const wrong = {
  en: 'Both sublevels together do not hold what they should.',
  de: 'Die beiden Sublevels enthalten zusammen nicht, was sie enthalten sollen.'
}

const severalWrites = (count) => ({
  en: `The result is right, but it takes ${count} writes. If the program ends in between, the bird is in both sublevels or in none: write one batch, with the option sublevel in each operation.`,
  de: `Das Ergebnis stimmt, braucht aber ${count} Schreibvorgänge. Endet das Programm dazwischen, ist der Vogel in beiden Sublevels oder in keinem: Schreib einen Batch, mit der Option sublevel in jeder Operation.`
})

const walks = {
  en: 'The result is right, but your function walks over entries. It knows the key of the only one that it needs: get() reads that.',
  de: 'Das Ergebnis stimmt, aber deine Funktion läuft über Einträge. Sie kennt den Schlüssel des einzigen, den sie braucht: Den liest get().'
}
