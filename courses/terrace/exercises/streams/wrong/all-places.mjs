// your function reads
import { pipeline } from 'node:stream/promises'

export default async function exportPlace(db, place, output) {
  const lines = async function* (entries) {
    for await (const [key, value] of entries) {
      if (key.startsWith(`${place}!`)) yield `${JSON.stringify({ key, value })}\n`
    }
  }
  await pipeline(db.iterator(), lines, output)
}
