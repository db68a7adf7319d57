export default async function notes(db, birds) {
  const found = await db.getMany(birds)
  return found.map((note) => note ?? '?')
}

export async function isKnown(db, bird) {
  return db.has(bird)
}
