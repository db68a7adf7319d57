// Your program reads the file synchronously.
import { readFileSync } from 'node:fs'

const lines = readFileSync(process.argv[2], 'utf8').split('\n')
console.log(lines.sort((one, other) => other.length - one.length)[0])
