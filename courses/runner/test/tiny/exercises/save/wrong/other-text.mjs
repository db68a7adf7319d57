// not the expected one
import { writeFileSync } from 'node:fs'

writeFileSync('out.txt', 'text')
