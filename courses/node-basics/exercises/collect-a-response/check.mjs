import { setTimeout as delay } from 'node:timers/promises'
import { PROMISE_PRINTED } from '../../checks/messages.mjs'
import { outputs } from '../../checks/output.mjs'
import { randomText } from '../../checks/samples.mjs'
import { exampleServer, WRONG_URL, withServer } from '../../checks/web.mjs'

/** Keeps chunks apart on their way. */
const SEPARATION_MS = 30

export async function example() {
  const url = await exampleServer((_, response) => sendInHalves(response, 'wren: 3 €'))
  return { args: [`${url}/prices`] }
}

export default async function check(context) {
  const { random } = context
  const text = `${randomText(random)}${random.word(4)}: ${random.integer(2, 99)} €`
  const answer = (_, response) => sendInHalves(response, text)
  await withServer(answer, async (url) => {
    const options = { args: [`${url}/${random.word(5)}`] }
    const { actual, expected } = await outputs(context, options, { failures: [WRONG_URL] })
    if (actual !== expected) context.refuse(messageOn(actual, text), { expected, actual })
  })
}

/** Sends a text that ends in €, in two chunks, of which the first ends within that sign. */
async function sendInHalves(response, text) {
  const bytes = Buffer.from(text)
  response.setHeader('content-type', 'text/plain; charset=utf-8')
  response.write(bytes.subarray(0, -2))
  await delay(SEPARATION_MS)
  response.end(bytes.subarray(-2))
}

function messageOn(actual, text) {
  const [first, ...rest] = actual.split('\n')
  if (PROMISE_PRINTED[0].test(actual)) return PROMISE_PRINTED[1]
  if (actual.includes('\uFFFD')) {
    return {
      en: 'A letter was cut in two by the end of a chunk. Decode the body when all of it has come.',
      de: 'Das Ende eines Stücks hat einen Buchstaben zerteilt. Dekodiere den Body, wenn er ganz da ist.'
    }
  }
  if (Number(first) === Buffer.byteLength(text)) {
    return {
      en: 'Your program counts bytes. Make a text of them first, and count its characters.',
      de: 'Dein Programm zählt Bytes. Mach zuerst einen Text daraus, und zähle dessen Zeichen.'
    }
  }
  if (actual === text) {
    return {
      en: 'The body is right. Print the number of its characters on a line before it.',
      de: 'Der Body stimmt. Gib auf einer Zeile davor die Zahl seiner Zeichen aus.'
    }
  }
  if (Number(first) === text.length) {
    return {
      en: 'The number is right, but not what follows it.',
      de: 'Die Zahl stimmt, aber nicht, was danach kommt.'
    }
  }
  const body = rest.join('\n')
  return body === text
    ? { en: `The body has ${text.length} characters.`, de: `Der Body hat ${text.length} Zeichen.` }
    : { en: 'Number and body are wrong.', de: 'Zahl und Body stimmen nicht.' }
}
