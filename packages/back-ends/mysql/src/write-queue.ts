/** The order of an instance's writes. One transaction runs at a time, and what is called meanwhile shares the next one. */

import { GroupedWrites } from 'terrace-core'
import { deadlineError, isTooLarge } from './failures.js'
import type { Binary } from './literals.js'
import { now } from './time.js'

/** A write, with keys and values alternating. */
interface Write {
  readonly operations: ReadonlyArray<Binary | null>
  readonly end: number
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** Writes share a transaction up to this size. */
const GROUP_BYTES = 1024 * 1024

/** Writes changes in one transaction until `end`. */
export type Commit = (changes: Map<Binary, Binary | null>, end: number) => Promise<void>

export class WriteQueue extends GroupedWrites<Write[]> {
  constructor(commit: Commit) {
    super({
      maxBytes: GROUP_BYTES,
      begin: () => [],
      commit: (writes) => commitAll(writes, commit)
    })
  }

  /** Adds a write: keys and values alternate. */
  write(operations: ReadonlyArray<Binary | null>, sizeBytes: number, end: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const group = this.add(sizeBytes, (writes) => writes.push({ operations, end, resolve, reject }))
      // Writes of a group settle separately, unless it is refused.
      group.catch(reject)
    })
  }
}

/** Commits writes together, or in halves if the server finds them too large together. Each settles separately. */
async function commitAll(writes: readonly Write[], commit: Commit): Promise<void> {
  const started = now()
  const inTime = writes.filter((write) => write.end > started)
  for (const write of writes) if (write.end <= started) write.reject(deadlineError('The write'))
  if (inTime.length === 0) return

  const changes = new Map<Binary, Binary | null>()
  for (const { operations } of inTime) {
    for (let i = 0; i < operations.length; i += 2) {
      changes.set(operations[i] as Binary, operations[i + 1] as Binary | null)
    }
  }
  try {
    await commit(changes, (inTime.at(-1) as Write).end)
    for (const { resolve } of inTime) resolve()
  } catch (error) {
    if (inTime.length > 1 && isTooLarge(error)) {
      const half = inTime.length >> 1
      await commitAll(inTime.slice(0, half), commit)
      await commitAll(inTime.slice(half), commit)
      return
    }
    for (const { reject } of inTime) reject(error)
  }
}
