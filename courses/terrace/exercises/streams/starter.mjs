import { pipeline } from 'node:stream/promises'

export default async function exportPlace(db, place, output) {
  output.end()
}
