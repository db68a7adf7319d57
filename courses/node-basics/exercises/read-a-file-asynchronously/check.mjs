import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { BYTES_INSTEAD_OF_TEXT, FILE_NOT_FOUND } from '../../checks/messages.mjs'
import { outputs } from '../../checks/output.mjs'
import { randomLine } from '../../checks/samples.mjs'

export function example({ directory }) {
  const file = join(directory, 'birds.txt')
  writeFileSync(file, 'a wren\nthe kingfisher\nan owl\n')
  return { args: [file] }
}

/** Is loaded before the program, and makes synchronous reads fail. */
const WITHOUT_SYNC = new URL('without-sync.mjs', import.meta.url)

const SYNCHRONOUS = [
  /ERR_READ_SYNCHRONOUSLY/,
  {
    en: 'Your program reads the file synchronously. Take readFile of node:fs/promises, and await it.',
    de: 'Dein Programm liest die Datei synchron. Nimm readFile aus node:fs/promises und warte mit await.'
  }
]

const NOT_A_TEXT = [
  BYTES_INSTEAD_OF_TEXT[0],
  {
    en: "What you have is not a text yet. Is await there, and 'utf8'? await readFile(name, 'utf8')",
    de: "Was du hast, ist noch kein Text. Sind await und 'utf8' da? await readFile(name, 'utf8')"
  }
]

export default async function check(context) {
  const { random } = context
  const lines = Array.from({ length: random.integer(3, 7) }, () => randomLine(random, 3))
  const longest = `${randomLine(random, 6)} ${random.word(24)}`
  lines.splice(random.integer(1, lines.length - 1), 0, longest)
  const file = join(context.makeDirectory(), `${random.word(6)}.txt`)
  writeFileSync(file, lines.map((line) => `${line}\n`).join(''))

  const options = { args: [file], env: { NODE_OPTIONS: `--import=${WITHOUT_SYNC}` } }
  const { actual, expected } = await outputs(context, options, {
    failures: [SYNCHRONOUS, NOT_A_TEXT, FILE_NOT_FOUND]
  })
  if (actual === expected) return
  context.refuse(messageOn(actual, lines), { expected, actual })
}

function messageOn(actual, lines) {
  if (/Promise \{|\[object Promise\]|^undefined$/.test(actual)) {
    return {
      en: 'readFile returns a promise, not the text. Wait for the text: await readFile(…).',
      de: 'readFile gibt ein Promise zurück, nicht den Text. Warte auf den Text: await readFile(…).'
    }
  }
  if (lines.includes(actual)) {
    return {
      en: 'Your program prints a line of the file, but not the longest one.',
      de: 'Dein Programm gibt eine Zeile der Datei aus, aber nicht die längste.'
    }
  }
  return {
    en: 'Your program does not print the longest line of the file.',
    de: 'Dein Programm gibt nicht die längste Zeile der Datei aus.'
  }
}
