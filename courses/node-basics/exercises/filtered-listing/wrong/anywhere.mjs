// what follows the last dot
import { readdir } from 'node:fs/promises'

const [directory, extension] = process.argv.slice(2)
const names = await readdir(directory)
for (const name of names.sort()) if (name.includes(`.${extension}`)) console.log(name)
