// Puts a file into another one, between two markers that stay:
//
//   node scripts/embed.mjs bench/results/rivals.md README.md rivals
//
// replaces the text between `<!-- rivals -->` and `<!-- /rivals -->`. Without a name the source has such markers
// itself, and each of its parts replaces the one of the same name:
//
//   node scripts/embed.mjs bench/results/tuning.md docs/tuning.md

import { readFileSync, writeFileSync } from 'node:fs'

const [source, target, name] = process.argv.slice(2)
const given = readFileSync(source, 'utf8')
const parts = name === undefined ? partsOf(given) : [[name, given.trim()]]

let text = readFileSync(target, 'utf8')
for (const [part, content] of parts) {
  const [begin, end] = [`<!-- ${part} -->`, `<!-- /${part} -->`]
  const from = text.indexOf(begin)
  const to = text.indexOf(end)
  if (from < 0 || to < from) {
    console.error(`embed: ${target} has no ${begin} followed by ${end}: it stays as it is`)
  } else {
    text = `${text.slice(0, from + begin.length)}\n\n${content}\n\n${text.slice(to)}`
    console.log(`embed: ${name === undefined ? `${part} of ${source}` : source} is in ${target}`)
  }
}
writeFileSync(target, text)

/** The parts between markers, with their names. */
function partsOf(text) {
  return [...text.matchAll(/<!-- (\w+) -->([\s\S]*?)<!-- \/\1 -->/g)].map(([, part, content]) => [
    part,
    content.trim()
  ])
}
