// Your function is done before the output is
import { pipeline } from 'node:stream/promises'

export default async function exportPlace(db, place, output) {
  const lines = async function* (entries) {
    for await (const [key, value] of entries) yield `${JSON.stringify({ key, value })}\n`
  }
  pipeline(db.iterator({ gte: `${place}!`, lt: `${place}"` }), lines, output).catch(() => {})
}
