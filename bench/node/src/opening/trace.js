/** Counts the system calls of a piece of work in what strace prints. */

/**
 * @typedef {object} Calls
 * @property {number} syncs calls that wait for the disk
 * @property {number} total
 */

/** Not a file: looking for it marks where the work begins and where it ends. */
export const MARK = '/terrace-bench-mark'

const SYNCS = new Set(['fsync', 'fdatasync', 'msync', 'sync_file_range', 'syncfs', 'sync'])

/**
 * The calls of all threads between the first two marks.
 * @param {string} output of `strace -f`
 * @returns {Calls}
 */
export function countCalls(output) {
  let marks = 0
  const calls = { syncs: 0, total: 0 }
  for (const line of output.split('\n')) {
    // A call that another thread interrupts has a second line, which is not matched.
    const name = line.match(/^(?:\d+ +)?(\w+)\(/)?.[1]
    if (name === undefined) continue
    if (line.includes(MARK)) marks++
    else if (marks === 1) {
      calls.total++
      if (SYNCS.has(name)) calls.syncs++
    }
  }
  if (marks < 2) throw new Error(`strace shows ${marks} marks: it should show two`)
  return calls
}
