// had written nothing
export default async function follow(changes, db) {
  const birds = db.sublevel('birds')
  const state = db.sublevel('state', { valueEncoding: 'json' })
  let applied = (await state.get('applied')) ?? 0
  const batch = []
  for await (const { sequence, type, key, value } of changes.read({ after: applied })) {
    batch.push({ type, key, value, sublevel: birds })
    applied = sequence
  }
  await db.batch([...batch, { type: 'put', key: 'applied', value: applied, sublevel: state }])
}
