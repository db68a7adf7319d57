import { readFileSync } from 'node:fs'

const content = readFileSync(process.argv[2])

console.log(content)
