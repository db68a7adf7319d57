// does not have: import 'node:assert'
import assert from 'node:assert'

export default async function note(db, bird) {
  assert.equal(typeof bird, 'string')
  const birds = db.sublevel('birds', { valueEncoding: 'json' })
  await birds.put(bird, ((await birds.get(bird)) ?? 0) + 1)
  return birds.iterator().all()
}
