// Empty lines are lines as well
import { readFileSync } from 'node:fs'

const lines = readFileSync(process.argv[2], 'utf8').split('\n')
console.log(lines.filter((line) => line !== '').length)
