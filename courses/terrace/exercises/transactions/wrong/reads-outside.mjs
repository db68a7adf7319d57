// Read by tx.get
import { transactions } from 'terrace-toolbox/transaction'

export default function feeders(db) {
  const transaction = transactions(db)
  return async function pour(from, to, grams) {
    const there = await db.get(from)
    if (there < grams) throw new Error('too little')
    return transaction(async (tx) => {
      tx.put(from, there - grams)
      tx.put(to, (await tx.get(to)) + grams)
    })
  }
}
