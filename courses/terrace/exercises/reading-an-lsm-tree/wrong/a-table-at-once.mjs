// until there is enough of it for a table
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

export const prediction = [1, 1, 1, 0]

export default async function watch(db, entries) {
  const seen = []
  await db.batch(entries.map(([key, value]) => ({ type: 'put', key, value })))
  seen.push(await look(db))
  await db.compactRange('', '~')
  seen.push(await look(db))
  await db.batch(entries.map(([key]) => ({ type: 'del', key })))
  seen.push(await look(db))
  await db.compactRange('', '~')
  seen.push(await look(db))
  return seen
}

async function look(db) {
  const tables = db.stats().levels.map(({ files }) => files)
  return { tables, logBytes: await logBytes(db.location) }
}

async function logBytes(directory) {
  const names = (await readdir(directory)).filter((name) => name.endsWith('.log'))
  const files = await Promise.all(names.map((name) => stat(join(directory, name))))
  return files.reduce((sum, { size }) => sum + size, 0)
}
