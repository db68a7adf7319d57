import { readdir } from 'node:fs/promises'

export default async function listing(directory, extension) {
  const names = await readdir(directory)
  for (const name of names.sort()) if (name.endsWith(`.${extension}`)) console.log(name)
}
