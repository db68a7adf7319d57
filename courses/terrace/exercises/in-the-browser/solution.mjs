export default async function note(db, bird) {
  const birds = db.sublevel('birds', { valueEncoding: 'json' })
  const seen = (await birds.get(bird)) ?? 0
  await birds.put(bird, seen + 1)
  return birds.iterator().all()
}
