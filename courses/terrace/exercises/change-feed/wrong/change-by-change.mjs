// the copy shows a half of it
export default async function follow(changes, db) {
  const birds = db.sublevel('birds')
  const state = db.sublevel('state', { valueEncoding: 'json' })
  for await (const { sequence, type, key, value } of changes.read({
    after: (await state.get('applied')) ?? 0
  })) {
    await db.batch([
      { type, key, value, sublevel: birds },
      { type: 'put', key: 'applied', value: sequence, sublevel: state }
    ])
  }
}
