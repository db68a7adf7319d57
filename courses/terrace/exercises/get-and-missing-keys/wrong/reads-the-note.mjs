// isKnown needs no note
export default async function notes(db, birds) {
  const found = await db.getMany(birds)
  return found.map((note) => note ?? '?')
}

export async function isKnown(db, bird) {
  return (await db.get(bird)) !== undefined
}
