// No name was found.
import { readdir } from 'node:fs/promises'
import { extname } from 'node:path'

const [directory, extension] = process.argv.slice(2)
const names = await readdir(directory)
for (const name of names.sort()) if (extname(name) === extension) console.log(name)
