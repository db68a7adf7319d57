import { transactions } from 'terrace-toolbox/transaction'

export default function feeders(db) {
  return async function pour(from, to, grams) {
    await db.put(from, (await db.get(from)) - grams)
    await db.put(to, (await db.get(to)) + grams)
  }
}
