// Writes down the circles among the modules of our crates. Refuses to add any: the list may only get shorter.

import { circlesOfCrates, committedCircles, differences, hasGrown, writeCircles } from './crates.mjs'

const [committed, found] = [committedCircles(), circlesOfCrates()]
const grown = [...found].filter(([start, circles]) => hasGrown(circles, committed.get(start) ?? []))
for (const [start, circles] of grown) {
  console.error(`${start}:\n${differences(circles, committed.get(start) ?? []).join('\n')}`)
}
if (grown.length > 0) process.exit(1)
writeCircles(found)
