import { pipeline } from 'node:stream/promises'

export default async function exportPlace(db, place, output) {
  await pipeline(db.iterator({ gte: `${place}!`, lt: `${place}"` }), lines, output)
}

async function* lines(entries) {
  for await (const [key, value] of entries) yield `${JSON.stringify({ key, value })}\n`
}
