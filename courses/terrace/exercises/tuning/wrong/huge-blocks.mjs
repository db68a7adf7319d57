// since it decompresses a whole block
export const archive = { compression: 'zstd', blockSize: 1024 * 1024 }

const BATCH_SIZE = 500

export default async function save(db, readings) {
  for (let from = 0; from < readings.length; from += BATCH_SIZE) {
    const batch = readings.slice(from, from + BATCH_SIZE)
    await db.batch(batch.map(([key, value]) => ({ type: 'put', key, value })))
  }
}
