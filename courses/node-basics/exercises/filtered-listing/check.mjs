import { join } from 'node:path'
import { fillWithFiles, messageOnListing, messageOnNothing } from '../../checks/listing.mjs'
import { outputs } from '../../checks/output.mjs'

const EXTENSIONS = ['md', 'txt2', 'csv', 'json']

export function example({ directory, random }) {
  fillWithFiles(join(directory, 'birds'), random, 'md')
  return { args: ['birds', 'md'] }
}

const FAILURES = [
  [
    /\.(filter|sort|map|forEach) is not a function|is not iterable/,
    {
      en: 'readdir returns a promise. Wait for the array: await readdir(…).',
      de: 'readdir gibt ein Promise zurück. Warte auf das Array: await readdir(…).'
    }
  ],
  [
    /ENOENT/,
    {
      en: 'Your program reads a directory that is not there. Its path is the first argument, process.argv[2].',
      de: 'Dein Programm liest ein Verzeichnis, das es nicht gibt. Sein Pfad ist das erste Argument, process.argv[2].'
    }
  ]
]

export default async function check(context) {
  const { random } = context
  const directory = context.makeDirectory()
  const extension = random.pick(EXTENSIONS)
  fillWithFiles(directory, random, extension)
  const messages = { failures: FAILURES, silence: messageOnNothing(extension) }
  const { actual, expected } = await outputs(context, { args: [directory, extension] }, messages)
  if (actual === expected) return
  const message = messageOnListing(actual.split(/\r?\n/), expected.split('\n'), extension)
  context.refuse(message, { expected, actual })
}
