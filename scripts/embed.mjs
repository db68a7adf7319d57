// Puts a file into another one, between two markers that stay:
//
//   node scripts/embed.mjs results/rivals.md README.md rivals
//
// replaces what stands between `<!-- rivals -->` and `<!-- /rivals -->`.

import { readFileSync, writeFileSync } from 'node:fs'

const [source, target, name] = process.argv.slice(2)
const [begin, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`]

const text = readFileSync(target, 'utf8')
const from = text.indexOf(begin)
const to = text.indexOf(end)
if (from < 0 || to < from) {
  console.error(`embed: ${target} has no ${begin} with ${end} behind it: it stays as it is`)
} else {
  const embedded = readFileSync(source, 'utf8').trim()
  writeFileSync(target, `${text.slice(0, from + begin.length)}\n\n${embedded}\n\n${text.slice(to)}`)
  console.log(`embed: ${source} is in ${target}`)
}
