// With 'utf8' as the second argument you get a text.
import { readFileSync } from 'node:fs'

console.log(readFileSync(process.argv[2]).split('\n').length - 1)
