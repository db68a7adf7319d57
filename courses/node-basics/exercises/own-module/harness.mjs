// Runs in the learner's process: calls the function, and tells what it returned, what it printed, and whether it failed.

export default async function harness(listing, { directory, extension }) {
  const printed = []
  console.log = (...values) => printed.push(values.join(' '))
  try {
    return { returned: await listing(directory, extension), printed }
  } catch (error) {
    return { failure: error.code ?? error.message, printed }
  }
}
