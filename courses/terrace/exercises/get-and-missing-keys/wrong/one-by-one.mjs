// /asks the database \d+ times/
export default async function notes(db, birds) {
  return Promise.all(birds.map(async (bird) => (await db.get(bird)) ?? '?'))
}

export async function isKnown(db, bird) {
  return db.has(bird)
}
