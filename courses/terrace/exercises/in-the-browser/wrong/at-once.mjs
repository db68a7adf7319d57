// Use the calls that return a promise
export default async function note(db, bird) {
  const birds = db.sublevel('birds', { valueEncoding: 'json' })
  birds.putSync(bird, (birds.getSync(bird) ?? 0) + 1)
  return birds.iterator().all()
}
