import { readFile } from 'node:fs/promises'

const text = await readFile(process.argv[2], 'utf8')

let longest = ''
for (const line of text.split('\n')) {
  if (line.length > longest.length) longest = line
}

console.log(longest)
