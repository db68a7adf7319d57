// The name of the file is the first argument
import { readFileSync } from 'node:fs'

console.log(readFileSync('notes.txt', 'utf8').split('\n').length - 1)
