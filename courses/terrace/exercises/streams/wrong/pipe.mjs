// When the output fails (a full disk), your function leaves the iterator open
import { Transform } from 'node:stream'
import { finished } from 'node:stream/promises'
import { readable } from 'terrace-toolbox/streams'

export default async function exportPlace(db, place, output) {
  const lines = new Transform({
    objectMode: true,
    transform: (entry, _encoding, done) => done(null, `${JSON.stringify(entry)}\n`)
  })
  readable(db, { gte: `${place}!`, lt: `${place}"` })
    .pipe(lines)
    .pipe(output)
  await finished(output)
}
