// walks over the database
export default async function notes(db, birds) {
  const all = new Map(await db.iterator().all())
  return birds.map((bird) => all.get(bird) ?? '?')
}

export async function isKnown(db, bird) {
  return db.has(bird)
}
