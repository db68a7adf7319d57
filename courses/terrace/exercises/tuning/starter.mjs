export const archive = {}

export default async function save(db, readings) {
  for (const [key, value] of readings) await db.put(key, value)
}
