// but not the longest one
import { readFile } from 'node:fs/promises'

const text = await readFile(process.argv[2], 'utf8')
console.log(text.split('\n')[0])
