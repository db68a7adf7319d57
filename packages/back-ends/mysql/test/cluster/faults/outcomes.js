// What an error says about the write that failed with it.

/** The codes after which a write may be stored all the same. */
const UNKNOWN = new Set(['LEVEL_COMMIT_UNKNOWN'])

/** The outcome of a write for the oracle, by the error that it failed with; undefined stands for none. */
export function outcomeOf(error) {
  if (error === undefined) return { outcome: 'acknowledged' }
  const code = error.code ?? `without code: ${error.message}`
  return { outcome: UNKNOWN.has(code) ? 'unknown' : 'failed', code }
}
