// The new entries are not in the sublevel
export default async function replace(db, name, entries) {
  await db.sublevel(name).clear()
  await db.batch(entries.map(([key, value]) => ({ type: 'put', key, value })))
}
