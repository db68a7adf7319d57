// a database in a page cannot answer: LEVEL_NOT_SUPPORTED
export default async function note(db, bird) {
  const birds = db.sublevel('birds', { valueEncoding: 'json' })
  await birds.put(bird, ((await birds.get(bird)) ?? 0) + 1)
  return [...birds.iterator()]
}
