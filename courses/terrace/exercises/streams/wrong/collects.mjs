// entries that it had not written
import { pipeline } from 'node:stream/promises'

export default async function exportPlace(db, place, output) {
  const entries = await db.iterator({ gte: `${place}!`, lt: `${place}"` }).all()
  const lines = entries.map(([key, value]) => `${JSON.stringify({ key, value })}\n`)
  await pipeline(lines, output)
}
