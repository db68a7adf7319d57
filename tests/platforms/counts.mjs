// Reads what tests print: in TAP, as node:test, tape and Deno do, or in Bun's way.

/** The names of the tests that passed and failed, and the number of assertions. What was skipped counts as neither. */
export function countsOf(output) {
  const passed = []
  const failed = []
  for (const line of output.split(/\r?\n/)) {
    const found = inTap(line) ?? ofBun(line)
    if (found) (found.isGood ? passed : failed).push(found.name)
  }
  return { passed, failed, assertions: passed.length + failed.length }
}

function inTap(line) {
  const [, isNot, name, directive] = /^(not )?ok \d+ -? ?(.*?)(?: # ([A-Z]{4}).*)?$/.exec(line) ?? []
  if (name !== undefined && directive === undefined) return { name, isGood: isNot === undefined }
}

function ofBun(line) {
  const [, result, name] = /^\((pass|fail)\) (.*?)(?: \[[\d.]+m?s\])?$/.exec(line) ?? []
  if (name !== undefined) return { name, isGood: result === 'pass' }
}
