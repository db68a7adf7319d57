import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { BYTES_INSTEAD_OF_TEXT, FILE_NOT_FOUND } from '../../checks/messages.mjs'
import { outputs } from '../../checks/output.mjs'
import { randomText } from '../../checks/samples.mjs'

const FAILURES = [BYTES_INSTEAD_OF_TEXT, FILE_NOT_FOUND]

export function example({ directory }) {
  const file = join(directory, 'notes.txt')
  writeFileSync(file, 'one\ntwo\n\n')
  return { args: [file] }
}

export default async function check(context) {
  const { random } = context
  await checkCount(context, randomText(random))
  await checkCount(context, '')
}

async function checkCount(context, text) {
  const file = join(context.makeDirectory(), `${context.random.word(6)}.txt`)
  writeFileSync(file, text)
  const { actual, expected } = await outputs(context, { args: [file] }, { failures: FAILURES })
  if (actual === expected) return
  context.refuse(messageOn(Number(actual), text, Number(expected)), { expected, actual })
}

function messageOn(actual, text, count) {
  if (actual === count + 1) {
    return {
      en: 'One too many. split finds an empty part after the last line break, and that is not a line.',
      de: 'Eine zu viel. Nach dem letzten Zeilenumbruch findet split noch einen Teil, der leer und keine Zeile ist.'
    }
  }
  if (actual === text.split('\n').filter((line) => line !== '').length) {
    return {
      en: 'Empty lines are lines as well, but your program leaves them out.',
      de: 'Auch leere Zeilen sind Zeilen, aber dein Programm lässt sie aus.'
    }
  }
  if (actual === text.length || actual === Buffer.byteLength(text)) {
    return {
      en: 'Your program prints how long the file is. Count its line breaks.',
      de: 'Dein Programm gibt aus, wie lang die Datei ist. Zähle ihre Zeilenumbrüche.'
    }
  }
  return { en: `This file has ${count} lines.`, de: `Diese Datei hat ${count} Zeilen.` }
}
