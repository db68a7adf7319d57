import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export const example = { args: ['an example'] }

export default async function check({ submission, run, makeDirectory, random, refuse, expectEqual }) {
  const directory = makeDirectory()
  const text = random.word(8)
  await run(submission, { args: [text], directory })
  const file = join(directory, 'out.txt')
  if (!existsSync(file)) refuse({ en: 'There is no out.txt.', de: 'Es gibt kein out.txt.' })
  expectEqual(readFileSync(file, 'utf8'), text)
}
