/** Medians over rounds, and the grouping of results that are comparable. */

/** @typedef {import('./results.js').Result} Result */

/** @param {number[]} numbers */
export function median(numbers) {
  const sorted = numbers.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/**
 * @template T
 * @param {Iterable<T>} items
 * @returns {T[]}
 */
export function distinct(items) {
  return [...new Set(items)]
}

/**
 * Groups comparable results: those of the same workload with the same settings.
 * @param {Result[]} results
 * @returns {Result[][]}
 */
export function groups(results) {
  /** @type {Map<string, Result[]>} */
  const found = new Map()
  for (const result of results) {
    const name = JSON.stringify([result.workload, result.settings])
    found.set(name, [...(found.get(name) ?? []), result])
  }
  return [...found.values()]
}

/** The targets in the order of the run. @param {Result[]} results */
export function targetsOf(results) {
  return distinct(results.map(({ target }) => target))
}

/**
 * The names of all lines. A line that only some targets have comes before the next line that others have too, or at the end.
 * @param {Result[]} results
 */
export function lineNames(results) {
  const longest = results.toSorted((a, b) => b.lines.length - a.lines.length)
  /** @type {string[]} */
  const names = []
  for (const { lines } of longest) {
    /** @type {string[]} */
    let added = []
    for (const { name } of lines) {
      const found = names.indexOf(name)
      if (found < 0) {
        added.push(name)
      } else {
        names.splice(found, 0, ...added)
        added = []
      }
    }
    names.push(...added)
  }
  return names
}

/**
 * A target's time for an operation, in each round that has it.
 * @param {Result[]} results
 * @param {string} target
 * @param {string} line
 * @returns {Map<number, number>}
 */
export function microsByRound(results, target, line) {
  /** @type {Map<number, number>} */
  const rounds = new Map()
  for (const result of results) {
    const found = result.target === target ? result.lines.find(({ name }) => name === line) : undefined
    if (found !== undefined) rounds.set(result.round, found.microsPerOp)
  }
  return rounds
}

/** Targets are compared with this one if it took part, otherwise with the first target. */
const DEFAULT_REFERENCES = ['classic-level', 'browser-level']

/**
 * The target that others are compared with: the wanted one, the usual one, or the first.
 * @param {string[]} targets
 * @param {string} [wanted]
 */
export function referenceOf(targets, wanted) {
  return (
    [wanted, ...DEFAULT_REFERENCES].find((name) => name !== undefined && targets.includes(name)) ?? targets[0]
  )
}

/**
 * The median, the least and the most of the ratios within each round: a slow minute is slow for all. The median is not the
 * ratio of the medians. Undefined for the reference itself, and where one of the two has no time.
 * @param {Result[]} results
 * @param {string} target
 * @param {string} line
 * @param {string} reference
 */
export function timesAsFast(results, target, line, reference) {
  if (target === reference) return undefined
  const others = microsByRound(results, reference, line)
  const ratios = [...microsByRound(results, target, line)].flatMap(([round, time]) => {
    const other = others.get(round)
    return other === undefined ? [] : [other / time]
  })
  if (ratios.length === 0) return undefined
  return { ratio: median(ratios), least: Math.min(...ratios), most: Math.max(...ratios) }
}
