// one of its reads does not use it
export default async function report(db, print) {
  const snapshot = db.snapshot()
  try {
    await print(`total ${await db.get('total', { snapshot })}`)
    for await (const [key, count] of db.iterator({ gte: 'place!', lt: 'place"' })) {
      await print(`${key.slice('place!'.length)} ${count}`)
    }
  } finally {
    await snapshot.close()
  }
}
