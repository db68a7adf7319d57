// deletes key by key
export default async function replace(db, name, entries) {
  const sublevel = db.sublevel(name)
  const old = await sublevel.keys().all()
  await sublevel.batch(old.map((key) => ({ type: 'del', key })))
  await sublevel.batch(entries.map(([key, value]) => ({ type: 'put', key, value })))
}
