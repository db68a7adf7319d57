import { readdir } from 'node:fs/promises'
import { extname } from 'node:path'

/** The names of the files in a directory that have an extension, sorted. The extension is given without its dot. */
export default async function listing(directory, extension) {
  const names = await readdir(directory)
  names.filter((name) => extname(name) === `.${extension}`).sort()
}
