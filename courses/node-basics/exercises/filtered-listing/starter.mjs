import { readdir } from 'node:fs/promises'

const [directory, extension] = process.argv.slice(2)

console.log(`Files with the extension ${extension}:`)
console.log(await readdir(directory))
