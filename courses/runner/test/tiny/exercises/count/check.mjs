const timeoutMs = Number(process.env.TINY_TIMEOUT_MS ?? 60_000)

export const example = { input: 'one\ntwo\n', allow: ['child-processes'], timeoutMs }

export default async function check({ submission, solution, run, random, expectEqual }) {
  const input = Array.from({ length: random.integer(1, 9) }, () => `${random.word(5)}\n`).join('')
  const expected = await run(solution, { input })
  const actual = await run(submission, { input, allow: ['child-processes'], timeoutMs })
  expectEqual(actual.stdout, expected.stdout)
}
