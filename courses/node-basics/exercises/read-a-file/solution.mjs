import { readFileSync } from 'node:fs'

const text = readFileSync(process.argv[2], 'utf8')

// What comes after the last line break is not a line.
console.log(text.split('\n').length - 1)
