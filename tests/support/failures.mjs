// Tells in a few lines which tests failed in the output of a part of the tests: in a long log they are far from its end.

const MAX_LINES = 12
const MAX_LENGTH = 240

/** Each failed test of a TAP report with its place and error. A test that failed only because one within it did is left out. */
function failuresOfTap(lines) {
  const failures = []
  for (const [at, line] of lines.entries()) {
    const [, indent, name] = line.match(/^(\s*)not ok \d+ ?-? ?(.*)$/) ?? []
    if (name === undefined) continue
    const details = lines.slice(at + 1, at + 30)
    const end = details.findIndex((detail) => detail.trimEnd() === `${indent}  ...`)
    const block = (end < 0 ? [] : details.slice(0, end)).map((detail) => detail.trim())
    if (block.includes("failureType: 'subtestsFailed'")) continue
    failures.push(
      [name, value(block, 'location') ?? value(block, 'at'), value(block, 'error')]
        .filter(Boolean)
        .join(' · ')
    )
  }
  return failures
}

/** The value of a key of a block of YAML, on its line or on the one after it. */
function value(block, key) {
  const at = block.findIndex((line) => line.startsWith(`${key}:`))
  if (at < 0) return undefined
  const text = block[at].slice(key.length + 1).trim()
  return /^[|>]-?$/.test(text) ? block[at + 1] : text
}

/** Lines with which other tools report a failure: cargo, rustc, TypeScript's compiler, the reporter `spec`, npm and make. */
const OTHERS = [
  /^test .* FAILED$/,
  /panicked at /,
  /^error(\[|:)/,
  /: error TS\d/,
  /^\s*✖ /,
  /^npm error (workspace|command)/,
  /^make.*\*\*\*/
]

/** At most MAX_LINES lines about what failed in a log; its last lines, if they do not tell. */
export function failuresIn(lines) {
  const others = lines.flatMap((line, at) => {
    if (!OTHERS.some((pattern) => pattern.test(line))) return []
    // Our own reporter has the reason in the next line.
    return /^✖ .*:\d+\)$/.test(line) ? `${line} · ${lines[at + 1]?.trim()}` : line
  })
  const failures = [...new Set([...failuresOfTap(lines), ...others])]
  const lastLines = lines.filter((line) => line.trim() !== '').slice(-MAX_LINES)
  const shown = failures.length > 0 ? failures : lastLines
  return [
    ...shown.slice(0, MAX_LINES).map((line) => line.slice(0, MAX_LENGTH)),
    ...(shown.length > MAX_LINES ? [`and ${shown.length - MAX_LINES} more`] : [])
  ]
}
