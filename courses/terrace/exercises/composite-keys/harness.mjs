// Stores birds under the learner's keys, and reads the birds of each place in the learner's range.

import { observedDatabase } from '../../support/observed-database.mjs'

export default async function harness(keyOf, { birds, places }, { directory, module }) {
  if (typeof module.rangeOf !== 'function') return { hasNoRange: true }
  const keys = birds.map(({ place, number }) => keyOf(place, number))
  if (keys.some((key) => typeof key !== 'string')) return { keys }

  const db = await observedDatabase(
    directory,
    birds.map(({ name }, index) => [keys[index], name])
  )
  const ranges = places.map((place) => module.rangeOf(place))
  const answers = []
  for (const range of ranges) answers.push(await db.values(range).all())
  await db.close()
  return { keys, answers }
}
