import { setTimeout as delay } from 'node:timers/promises'
import { outputsOf } from '../../checks/output.mjs'
import { soon } from '../../checks/patience.mjs'
import { randomLine } from '../../checks/samples.mjs'
import { exampleServer, WRONG_URL, withServer } from '../../checks/web.mjs'

/** Between the chunks of the example. */
const PAUSE_MS = 700

/** Keeps chunks apart on their way to a program that does not print them. */
const SEPARATION_MS = 30

export async function example() {
  const url = await exampleServer(async (_, response) => {
    for (const chunk of ['an owl and', 'two wrens', 'and a kingfisher']) {
      response.write(chunk)
      await delay(PAUSE_MS)
    }
    response.end()
  })
  return { args: [`${url}/birds`] }
}

const NOT_AWAITED = [
  /not (async )?iterable|Symbol\(Symbol\.asyncIterator\)/,
  {
    en: 'fetch returns a promise. Wait for the response, and then go through response.body.',
    de: 'fetch gibt ein Promise zurück. Warte auf die Antwort, und geh dann durch response.body.'
  }
]

export default async function check(context) {
  const { random } = context
  const chunks = Array.from({ length: random.integer(2, 4) }, () => randomLine(random, random.integer(2, 4)))
  const path = `/${random.word(6)}`
  const observe = (file) => resultWith(context, file, path, chunks)
  const { actual, expected } = await outputsOf(context, observe, { failures: [WRONG_URL, NOT_AWAITED] })
  if (actual === expected) return
  context.refuse(messageOn(actual, chunks), { expected, actual })
}

/** Sends the chunks to a program, each when it has printed the one before. */
function resultWith(context, file, path, chunks) {
  let program
  const answer = async (request, response) => {
    if (request.url !== path) return response.writeHead(404).end('There is nothing here.')
    let isPrompt = true
    for (const chunk of chunks) {
      response.write(chunk)
      if (isPrompt) isPrompt = await soon(program.until(new RegExp(chunk)).then(() => true))
      await delay(SEPARATION_MS)
    }
    response.end()
  }
  return withServer(answer, (url) => {
    program = context.start(file, { args: [url + path] })
    program.end()
    return program.result
  })
}

function messageOn(actual, chunks) {
  if (/^\d+(,\d+)+$/m.test(actual) || actual.includes('Uint8Array')) {
    return {
      en: 'A chunk is an array of bytes. A TextDecoder turns it into a text: decoder.decode(chunk).',
      de: 'Ein Stück ist ein Array von Bytes. Ein TextDecoder macht daraus Text: decoder.decode(chunk).'
    }
  }
  if (actual.replaceAll('\n', '') === chunks.join('')) {
    return {
      en: 'Your program prints the body in one piece. Print each chunk when it arrives, on a line of its own.',
      de: 'Dein Programm gibt den Body am Stück aus. Gib jedes Stück aus, sobald es da ist, auf einer eigenen Zeile.'
    }
  }
  if (chunks[0] === actual) {
    return {
      en: 'Your program prints only the first chunk.',
      de: 'Dein Programm gibt nur das erste Stück aus.'
    }
  }
  return {
    en: 'What your program prints is not the chunks of the body.',
    de: 'Dein Programm gibt etwas anderes aus als die Stücke des Bodys.'
  }
}
