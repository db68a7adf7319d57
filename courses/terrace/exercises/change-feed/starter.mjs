export default async function follow(changes, db) {
  const birds = db.sublevel('birds')
  const state = db.sublevel('state', { valueEncoding: 'json' })

  for await (const { sequence, type, key, value, last } of changes.read({ after: 0 })) {
    console.log(sequence, type, key, value, last)
  }
}
