// The table of what the fault programs have counted.

const COLUMNS = {
  '': ({ title }) => title,
  operations: ({ counts }) => counts.operations ?? counts.reads,
  acknowledged: ({ counts }) => counts.acknowledged,
  failed: ({ counts }) => codes(counts.failed),
  'unknown, of them stored': ({ counts }) =>
    counts.unknown === undefined
      ? undefined
      : [counts.unknown, counts.unknownButApplied].filter((each) => each !== undefined).join(', '),
  lost: ({ counts }) => counts.lost,
  torn: ({ counts }) => counts.torn,
  'applied twice': ({ counts }) => counts.appliedTwice,
  'failed, but applied': ({ counts }) => counts.failedButApplied,
  'applied over newer': ({ counts }) => counts.appliedOverNewer,
  'longest gap, ms': ({ counts }) => counts.longestGapMs,
  'also counted': ({ counts }) => others(counts)
}

/** Counts that have a column, or are only interesting if they are not what they should be. */
const SHOWN = new Set([
  'operations',
  'reads',
  'acknowledged',
  'failed',
  'unknown',
  'unknownButApplied',
  'lost',
  'torn',
  'appliedTwice',
  'failedButApplied',
  'appliedOverNewer',
  'longestGapMs',
  'foreign',
  'reopened'
])

/** The Markdown table of results. */
export function table(results) {
  const row = (cells) => `| ${cells.map((cell) => cell ?? '').join(' | ')} |`
  const names = Object.keys(COLUMNS)
  return [
    row(names),
    row(names.map((_, i) => (i === 0 ? '---' : '---:'))),
    ...results.map((result) => row(names.map((name) => COLUMNS[name](result))))
  ].join('\n')
}

function codes(failed) {
  if (failed === undefined) return undefined
  const parts = Object.entries(failed).map(([code, count]) => `${count} ${code}`)
  return parts.length === 0 ? '0' : parts.join(', ')
}

function others(counts) {
  return Object.entries(counts)
    .filter(([name]) => !SHOWN.has(name))
    .filter(([, value]) => typeof value !== 'object' || Object.keys(value).length > 0)
    .map(
      ([name, value]) =>
        `${words(name)} ${typeof value === 'object' ? JSON.stringify(value).replaceAll('"', '') : value}`
    )
    .join('; ')
}

const words = (name) => name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
