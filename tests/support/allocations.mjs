// How much memory work allocates in JavaScript's heap: a number that grows with what it copies, and is nearly the same on every
// machine.

import { askInspector, openInspector } from './inspector.mjs'

/** Why nothing can be counted in this runtime; undefined if it can. Node's inspector alone takes samples of the heap. */
export const uncounted =
  process.versions.bun || process.versions.deno ? 'the inspector of this runtime takes no samples' : undefined

/**
 * Counts the bytes that are allocated, also of what is garbage by then. What has its memory outside of the heap, such as a large
 * buffer, does not count.
 *
 * @param {() => unknown} run - May return a promise.
 */
export async function bytesAllocatedBy(run) {
  const session = openInspector()
  try {
    askInspector(session, 'HeapProfiler.startSampling', {
      samplingInterval: 1,
      includeObjectsCollectedByMajorGC: true,
      includeObjectsCollectedByMinorGC: true
    })
    await run()
    return sizeOf(askInspector(session, 'HeapProfiler.stopSampling').profile.head)
  } finally {
    session.disconnect()
  }
}

function sizeOf({ selfSize, children }) {
  return children.reduce((bytes, child) => bytes + sizeOf(child), selfSize)
}
