// reads the places one by one
export default async function report(db, print) {
  const snapshot = db.snapshot()
  try {
    await print(`total ${await db.get('total', { snapshot })}`)
    for await (const key of db.keys({ gte: 'place!', lt: 'place"', snapshot })) {
      await print(`${key.slice('place!'.length)} ${await db.get(key, { snapshot })}`)
    }
  } finally {
    await snapshot.close()
  }
}
