import { outputs } from '../../checks/output.mjs'

export const example = {}

export default async function check(context) {
  const { actual, expected } = await outputs(context, {})
  if (actual === expected) return
  context.refuse(messageOn(actual, expected), { expected, actual })
}

function messageOn(actual, expected) {
  if (actual.toLowerCase() === expected.toLowerCase()) {
    return {
      en: 'The letters are right, but some should be capital ones and others small.',
      de: 'Die Buchstaben stimmen, aber nicht ihre Groß- und Kleinschreibung.'
    }
  }
  if (lettersOf(actual) === lettersOf(expected)) {
    return {
      en: 'The words are right. Look at the comma, the space and the exclamation mark.',
      de: 'Die Wörter stimmen. Schau auf Komma, Leerzeichen und Ausrufezeichen.'
    }
  }
  if (actual.includes('\n')) {
    return {
      en: 'Your program prints more than one line.',
      de: 'Dein Programm gibt mehr als eine Zeile aus.'
    }
  }
  return { en: 'Your program prints a different text.', de: 'Dein Programm gibt einen anderen Text aus.' }
}

function lettersOf(text) {
  return text.toLowerCase().replace(/[^a-z]/g, '')
}
