// Put all entries into one batch
export default async function replace(db, name, entries) {
  const sublevel = db.sublevel(name)
  await sublevel.clear()
  for (const [key, value] of entries) await sublevel.put(key, value)
}
