import { writeFileSync } from 'node:fs'
import { text } from './text.mjs'

writeFileSync('out.txt', text)
