// So that a test need not wait long for what never ends.
const timeoutMs = Number(process.env.TINY_TIMEOUT_MS ?? 60_000)

export const example = { with: 21, timeoutMs }

export default async function check({ submission, solution, call, random, expectEqual }) {
  const number = random.integer(1, 1000)
  const actual = await call(submission, { with: number, timeoutMs })
  const expected = await call(solution, { with: number })
  expectEqual(actual, expected, { en: `double(${number}) is wrong.`, de: `double(${number}) ist falsch.` })
}
