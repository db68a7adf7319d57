// ends as if all were well
export default async function report(db, print) {
  const snapshot = db.snapshot()
  try {
    await print(`total ${await db.get('total', { snapshot })}`)
    for await (const [key, count] of db.iterator({ gte: 'place!', lt: 'place"', snapshot })) {
      await print(`${key.slice('place!'.length)} ${count}`)
    }
  } catch (error) {
    console.error(error)
  } finally {
    await snapshot.close()
  }
}
