// What one feeder loses, the other must gain
import { transactions } from 'terrace-toolbox/transaction'

export default function feeders(db) {
  const transaction = transactions(db)
  return (from, to, grams) =>
    transaction(async (tx) => {
      const there = await tx.get(from)
      if (there < grams) throw new Error('too little')
      tx.put(from, there - grams)
    })
}
