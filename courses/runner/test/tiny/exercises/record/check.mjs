const harness = new URL('harness.mjs', import.meta.url)

export default async function check({ submission, solution, call, random, expectEqual }) {
  const words = Array.from({ length: 8 }, () => random.word(1))
  const options = { export: 'record', with: [...words, ...words], harness }
  expectEqual(
    await call(submission, options),
    await call(solution, options),
    'The store was used differently.'
  )
}
