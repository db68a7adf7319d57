// and 4 were new
export default async function follow(changes, db) {
  const birds = db.sublevel('birds')
  const state = db.sublevel('state', { valueEncoding: 'json' })
  let batch = []
  for await (const { sequence, type, key, value, last } of changes.read({ after: 0 })) {
    batch.push({ type, key, value, sublevel: birds })
    if (!last) continue
    batch.push({ type: 'put', key: 'applied', value: sequence, sublevel: state })
    await db.batch(batch)
    batch = []
  }
}
