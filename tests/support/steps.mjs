// How many steps work takes in JavaScript: a number that grows as its time does, and is the same on every machine.
//
// Import this at the beginning, not later: functions that were called before have no counters.

import { askInspector, openInspector } from './inspector.mjs'

const session = openInspector()
askInspector(session, 'Profiler.enable')
askInspector(session, 'Profiler.startPreciseCoverage', { callCount: true, detailed: true })

/**
 * Counts the blocks of code that run: the body of a loop counts each time around. What the engine does itself, such as copying
 * bytes, does not count.
 *
 * @param {URL} directory - Only code in files below it counts.
 * @param {() => unknown} run - May return a promise.
 */
export async function stepsOf(directory, run) {
  askInspector(session, 'Profiler.takePreciseCoverage')
  await run()
  const { result } = askInspector(session, 'Profiler.takePreciseCoverage')
  const steps = result
    .filter(({ url }) => url.startsWith(directory.href))
    .flatMap(({ functions }) => functions.flatMap(({ ranges }) => ranges))
    .reduce((sum, { count }) => sum + count, 0)
  if (steps === 0) throw new Error(`No code below ${directory} has run`)
  return steps
}
