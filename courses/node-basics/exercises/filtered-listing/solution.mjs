import { readdir } from 'node:fs/promises'
import { extname } from 'node:path'

const [directory, extension] = process.argv.slice(2)

const names = await readdir(directory)
const found = names.filter((name) => extname(name) === `.${extension}`)

for (const name of found.sort()) console.log(name)
