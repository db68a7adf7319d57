import { readdir } from 'node:fs/promises'

export default async function listing(directory, extension) {
  const names = await readdir(directory).catch(() => [])
  return names.filter((name) => name.endsWith(`.${extension}`)).sort()
}
