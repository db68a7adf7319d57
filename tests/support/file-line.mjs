/** The line in the output of tests that says how long a file took, which scripts read. */
export function fileLine(file, seconds) {
  return `file ${seconds.toFixed(1)} s ${file}\n`
}
