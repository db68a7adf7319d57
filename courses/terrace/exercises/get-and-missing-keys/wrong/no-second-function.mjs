// second function, isKnown
export default async function notes(db, birds) {
  const found = await db.getMany(birds)
  return found.map((note) => note ?? '?')
}
