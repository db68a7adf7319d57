// Loads every entry of an npm package that is installed where this program is, and starts each of its programs. Prints what it has done.
//
//   node package.mjs NAME

import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const [name] = process.argv.slice(2)
const directory = new URL(`node_modules/${name}/`, import.meta.url)
const { version, exports, bin = {} } = JSON.parse(readFileSync(new URL('package.json', directory), 'utf8'))

// What is for pages has no other entry.
const entries = Object.keys(exports).filter((entry) => !['./package.json', './browser'].includes(entry))
for (const entry of entries) {
  const { default: _, ...named } = await import(entry.replace('.', name))
  if (Object.keys(named).length === 0) throw new Error(`${entry} of ${name} exports nothing`)
}
for (const file of Object.values(bin)) {
  const program = fileURLToPath(new URL(file, directory))
  const printed = execFileSync(process.execPath, [program, '--version'], { encoding: 'utf8' })
  if (!printed.includes(version)) throw new Error(`${program} --version printed ${printed}`)
}
const programs = Object.keys(bin).length
if (entries.length + programs === 0) throw new Error(`${name} has no entry and no program`)
console.log(`ok ${[entries.length && 'loaded', programs && 'started'].filter(Boolean).join(', ')}`)
