// Checked by the compiler, not run: a workshop and the check of an exercise in TypeScript.

import {
  type CheckContext,
  type Example,
  type ProgramResult,
  runWorkshop,
  selfCheck
} from 'terrace-workshop-runner'

export const example: Example = { with: [1, 2, 3] }

export default async function check({
  submission,
  run,
  call,
  random,
  expectEqual,
  refuse
}: CheckContext): Promise<void> {
  const result: ProgramResult = await run(submission, { input: random.word(5), args: ['-v'] })
  expectEqual(await call(submission, { with: [1, 2] }), 3, { en: 'It is wrong.', de: 'Das ist falsch.' })
  if (result.stdout === '') refuse('Nothing was printed.')

  // @ts-expect-error: a program's input is text
  await run(submission, { input: 5 })
  // @ts-expect-error: no such property
  result.output
}

export async function main(): Promise<void> {
  await runWorkshop(new URL('./', import.meta.url))
  await selfCheck('.')

  // @ts-expect-error: a directory is needed
  await runWorkshop()
}
