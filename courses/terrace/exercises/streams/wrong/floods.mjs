// although the output was full
import { finished } from 'node:stream/promises'

export default async function exportPlace(db, place, output) {
  for await (const [key, value] of db.iterator({ gte: `${place}!`, lt: `${place}"` })) {
    output.write(`${JSON.stringify({ key, value })}\n`)
  }
  output.end()
  await finished(output)
}
