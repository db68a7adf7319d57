import { between, bytewise } from 'terrace-bytewise'

export const options = { keyEncoding: bytewise }

export async function record(db, place, day, number, bird) {
  await db.put([place, day, number], bird)
}

export async function seen(db, place, first, last) {
  return db.values(between([place, first], [place, last])).all()
}
