// do not have bytewise as keyEncoding
import { between } from 'terrace-bytewise'

export const options = { keyEncoding: 'json' }

export async function record(db, place, day, number, bird) {
  await db.put([place, day, number], bird)
}

export async function seen(db, place, first, last) {
  return db.values({ gte: [place, first], lt: [place, last, 100] }).all()
}
