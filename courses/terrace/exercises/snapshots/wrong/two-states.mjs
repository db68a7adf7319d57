// The report does not fit together
export default async function report(db, print) {
  await print(`total ${await db.get('total')}`)
  for await (const [key, count] of db.iterator({ gte: 'place!', lt: 'place"' })) {
    await print(`${key.slice('place!'.length)} ${count}`)
  }
}
