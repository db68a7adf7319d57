// When the printer fails, your function leaves the snapshot open
export default async function report(db, print) {
  const snapshot = db.snapshot()
  await print(`total ${await db.get('total', { snapshot })}`)
  for await (const [key, count] of db.iterator({ gte: 'place!', lt: 'place"', snapshot })) {
    await print(`${key.slice('place!'.length)} ${count}`)
  }
  await snapshot.close()
}
