// their number in another write
export default async function follow(changes, db) {
  const birds = db.sublevel('birds')
  const state = db.sublevel('state', { valueEncoding: 'json' })
  let batch = []
  for await (const change of changes.read({ after: (await state.get('applied')) ?? 0 })) {
    batch.push({ type: change.type, key: change.key, value: change.value })
    if (!change.last) continue
    await birds.batch(batch)
    await state.put('applied', change.sequence)
    batch = []
  }
}
