// your function reads
import { bytewise, prefix } from 'terrace-bytewise'

export const options = { keyEncoding: bytewise }

export async function record(db, place, day, number, bird) {
  await db.put([place, day, number], bird)
}

export async function seen(db, place, first, last) {
  const birds = []
  for await (const [[, day], bird] of db.iterator(prefix([place]))) {
    if (day >= first && day <= last) birds.push(bird)
  }
  return birds
}
