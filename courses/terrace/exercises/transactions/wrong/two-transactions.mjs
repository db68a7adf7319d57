// use one transaction for both
import { transactions } from 'terrace-toolbox/transaction'

export default function feeders(db) {
  const { update } = transactions(db)
  return async function pour(from, to, grams) {
    await update(from, (there) => {
      if (there < grams) throw new Error('too little')
      return there - grams
    })
    await update(to, (there) => there + grams)
  }
}
