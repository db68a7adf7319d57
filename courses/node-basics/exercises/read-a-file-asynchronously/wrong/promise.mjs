// Wait for the text
import { readFile } from 'node:fs/promises'

const text = readFile(process.argv[2], 'utf8')
console.log(`The longest line of ${text}`)
