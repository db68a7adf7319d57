// Updates were lost
export default function feeders(db) {
  let last = Promise.resolve()
  return function pour(from, to, grams) {
    const result = last.then(async () => {
      const [there, other] = await db.getMany([from, to])
      if (there < grams) throw new Error('too little')
      await db.batch([
        { type: 'put', key: from, value: there - grams },
        { type: 'put', key: to, value: other + grams }
      ])
    })
    last = result.catch(() => {})
    return result
  }
}
