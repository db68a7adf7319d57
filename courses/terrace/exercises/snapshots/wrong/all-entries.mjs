// your function reads
export default async function report(db, print) {
  const snapshot = db.snapshot()
  try {
    await print(`total ${await db.get('total', { snapshot })}`)
    for await (const [key, count] of db.iterator({ snapshot })) {
      if (key.startsWith('place!')) await print(`${key.slice('place!'.length)} ${count}`)
    }
  } finally {
    await snapshot.close()
  }
}
