// Your function reads from db itself
export default function feeders(db) {
  return async function pour(from, to, grams) {
    const [there, other] = await db.getMany([from, to])
    if (there < grams) throw new Error('too little')
    await db.batch([
      { type: 'put', key: from, value: there - grams },
      { type: 'put', key: to, value: other + grams }
    ])
  }
}
