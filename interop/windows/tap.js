// Reads what node:test and tape print.

/** The names of the tests that passed and failed, and the number of assertions, of a report in TAP. */
export function countsOf(tap) {
  const passed = []
  const failed = []
  let assertions = 0
  for (const line of tap.split(/\r?\n/)) {
    const [, isNot, name, directive] = /^(not )?ok \d+ -? ?(.*?)(?: # ([A-Z]{4}).*)?$/.exec(line) ?? []
    if (name === undefined || directive !== undefined) continue
    assertions++
    if (isNot === undefined) passed.push(name)
    else failed.push(name)
  }
  return { passed, failed, assertions }
}
