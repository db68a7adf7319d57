import { transactions } from 'terrace-toolbox/transaction'

export default function feeders(db) {
  const transaction = transactions(db)
  return function pour(from, to, grams) {
    return transaction(async (tx) => {
      const there = await tx.get(from)
      if (there < grams) throw new Error(`${from} has only ${there} grams`)
      tx.put(from, there - grams)
      tx.put(to, (await tx.get(to)) + grams)
    })
  }
}
