// Is await there
import { readFile } from 'node:fs/promises'

const lines = readFile(process.argv[2], 'utf8').split('\n')
console.log(lines.sort((one, other) => other.length - one.length)[0])
