// poured more seed than there was
import { transactions } from 'terrace-toolbox/transaction'

export default function feeders(db) {
  const transaction = transactions(db)
  return (from, to, grams) =>
    transaction(async (tx) => {
      tx.put(from, (await tx.get(from)) - grams)
      tx.put(to, (await tx.get(to)) + grams)
    })
}
