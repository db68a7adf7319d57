export default async function replace(db, name, entries) {
  const sublevel = db.sublevel(name)
  await sublevel.clear()
  await sublevel.batch(entries.map(([key, value]) => ({ type: 'put', key, value })))
}
