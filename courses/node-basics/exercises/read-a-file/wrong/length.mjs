// Count its line breaks.
import { readFileSync } from 'node:fs'

console.log(readFileSync(process.argv[2]).length)
