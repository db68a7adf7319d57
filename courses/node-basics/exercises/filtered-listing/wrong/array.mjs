// Your program prints an array.
import { readdir } from 'node:fs/promises'

const [directory, extension] = process.argv.slice(2)
const names = await readdir(directory)
console.log(names.filter((name) => name.endsWith(`.${extension}`)).sort())
