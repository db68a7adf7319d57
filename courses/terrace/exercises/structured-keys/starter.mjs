import { between, bytewise, prefix } from 'terrace-bytewise'

export const options = {}

export async function record(db, place, day, number, bird) {}

export async function seen(db, place, first, last) {
  return []
}
