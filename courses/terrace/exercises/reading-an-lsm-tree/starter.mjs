import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

export const prediction = [9, 9, 9, 9]

export default async function watch(db, entries) {
  const seen = []
  await db.batch(entries.map(([key, value]) => ({ type: 'put', key, value })))
  seen.push(await look(db))
  return seen
}

async function look(db) {
  return { tables: [], logBytes: await logBytes(db.location) }
}

async function logBytes(directory) {
  const names = (await readdir(directory)).filter((name) => name.endsWith('.log'))
  const files = await Promise.all(names.map((name) => stat(join(directory, name))))
  return files.reduce((sum, { size }) => sum + size, 0)
}
