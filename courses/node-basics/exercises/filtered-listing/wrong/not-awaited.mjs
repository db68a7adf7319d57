// Wait for the array
import { readdir } from 'node:fs/promises'

const [directory, extension] = process.argv.slice(2)
const names = readdir(directory)
for (const name of names) if (name.endsWith(`.${extension}`)) console.log(name)
