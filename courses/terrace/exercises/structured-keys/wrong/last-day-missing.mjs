// The birds of the last day are missing
import { bytewise } from 'terrace-bytewise'

export const options = { keyEncoding: bytewise }

export async function record(db, place, day, number, bird) {
  await db.put([place, day, number], bird)
}

export async function seen(db, place, first, last) {
  return db.values({ gte: [place, first], lte: [place, last] }).all()
}
