// Entries of other sublevels are gone
export default async function replace(db, name, entries) {
  await db.clear()
  await db.sublevel(name).batch(entries.map(([key, value]) => ({ type: 'put', key, value })))
}
