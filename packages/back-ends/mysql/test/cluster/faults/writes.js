// The contents of writes. Every value contains its writer and the number of its write, so that the traces of all writes can be
// distinguished.

/** How many keys a batch writes besides the one unique to it. */
export const WIDTH = 10

const valueFor = (writer, number, bytes = 0) => `${writer}.${number}.`.padEnd(bytes, '-')

/** The writer and the number in a value. */
export function parseValue(value) {
  const [writer, number] = value.split('.', 2).map(Number)
  return { writer, number }
}

/** The kinds of writes, in the order in which a writer cycles through them. */
const KINDS = ['unique', 'own', 'batch', 'unique', 'common', 'batch']

/** The prefix of the batch keys that all writers overwrite. */
export const COMMON_PREFIX = 'b/common/'

/** The prefix of the batch keys of one writer. */
const batchPrefix = (writer) => `b/${writer}/`

/** The range of the keys that batches overwrite. */
export const batchRange = { gte: 'b/', lt: 'b0' }

/** The operations of the write of a number, for `batch()`. A single one can also be written with `put()`. */
export function operationsOf(writer, number) {
  const kind = KINDS[number % KINDS.length]
  const put = (key, bytes) => ({ type: 'put', key, value: valueFor(writer, number, bytes) })
  if (kind === 'unique') return [put(`u/${writer}/${number}`, (number * 37) % 800)]
  if (kind === 'own') return [put(`own/${writer}`)]

  const prefix = kind === 'common' ? COMMON_PREFIX : batchPrefix(writer)
  const more = `${prefix}more`
  return [
    put(`u/${writer}/${number}`),
    ...Array.from({ length: WIDTH }, (_, i) => put(`${prefix}${String(i).padStart(3, '0')}`, 200)),
    // Batches also alternate between creating and deleting a key.
    hasMore(number) ? put(more) : { type: 'del', key: more }
  ]
}

const hasMore = (number) => number % (2 * KINDS.length) < KINDS.length

/** The operations of a write that leave an entry. */
export const putsOf = (writer, number) => operationsOf(writer, number).filter(({ type }) => type === 'put')

/** The number of key sets, among entries of {@link batchRange}, that contain parts of several batches. */
export function tornIn(entries) {
  const sets = new Map()
  for (const entry of entries) {
    const prefix = entry[0].slice(0, entry[0].lastIndexOf('/') + 1)
    if (!sets.has(prefix)) sets.set(prefix, [])
    sets.get(prefix).push(entry)
  }
  return [...sets].filter(([prefix, entries]) => !isWhole(prefix, entries)).length
}

function isWhole(prefix, entries) {
  const { writer, number } = parseValue(entries[0][1])
  const expected = putsOf(writer, number).filter(({ key }) => key.startsWith(prefix))
  return (
    entries.length === expected.length &&
    entries.every(([key, value], i) => key === expected[i].key && value === expected[i].value)
  )
}
