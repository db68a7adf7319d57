// your function did not say so
import { transactions } from 'terrace-toolbox/transaction'

export default function feeders(db) {
  const transaction = transactions(db)
  return (from, to, grams) =>
    transaction(async (tx) => {
      const there = await tx.get(from)
      if (there < grams) return
      tx.put(from, there - grams)
      tx.put(to, (await tx.get(to)) + grams)
    })
}
