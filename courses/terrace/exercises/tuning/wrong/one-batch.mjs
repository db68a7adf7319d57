// blocks the event loop
export const archive = { compression: 'zstd', blockSize: 32 * 1024 }

const BATCH_SIZE = 1_000_000

export default async function save(db, readings) {
  for (let from = 0; from < readings.length; from += BATCH_SIZE) {
    const batch = readings.slice(from, from + BATCH_SIZE)
    await db.batch(batch.map(([key, value]) => ({ type: 'put', key, value })))
  }
}
