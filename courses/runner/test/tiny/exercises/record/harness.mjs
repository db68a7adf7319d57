// Runs in the learner's process: makes a store that notes what is done with it.
export default async function harness(record, words, { directory }) {
  const operations = []
  const store = { put: async (word) => operations.push(['put', word]) }
  const returned = await record(store, words)
  return { returned, operations, hasDirectory: directory !== undefined }
}
