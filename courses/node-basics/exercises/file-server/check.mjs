import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ask } from '../../checks/exchange.mjs'
import { startServer } from '../../checks/server.mjs'

export function example({ directory }) {
  const file = join(directory, 'wren.txt')
  writeFileSync(file, 'A wren sings.\n')
  return { args: ['8000', file], timeoutMs: 60_000 }
}

/** More than one piece of a stream. */
const MIN_SIZE_BYTES = 150_000
const MAX_SIZE_BYTES = 250_000

export default async function check(context) {
  const { random } = context
  const content = random.bytes(random.integer(MIN_SIZE_BYTES, MAX_SIZE_BYTES))
  const file = join(context.makeDirectory(), `${random.word(6)}.bin`)
  writeFileSync(file, content)

  const { port, socket } = await startServer(context, context.submission, { args: [file] })
  socket.destroy()
  expectContent(context, await ask({ port }), content)
  expectAgain(context, await askAgain(context, port), content)
  const together = await Promise.all([1, 2, 3].map(() => ask({ port })))
  for (const exchange of together) expectAgain(context, exchange, content)
}

async function askAgain({ refuse }, port) {
  try {
    return await ask({ port })
  } catch {
    return refuse({
      en: 'The first request was answered, and the second broke the connection.',
      de: 'Die erste Anfrage wurde beantwortet, bei der zweiten brach die Verbindung ab.'
    })
  }
}

function expectAgain({ refuse }, { body, isComplete }, content) {
  if (isComplete && body.equals(content)) return
  refuse({
    en: 'The first request got the file, a later one did not. A stream can be read once: make one for each request.',
    de: 'Die erste Anfrage bekam die Datei, eine spätere nicht. Ein Stream lässt sich einmal lesen: Erzeuge für jede Anfrage einen.'
  })
}

function expectContent({ refuse }, { body, isComplete, status }, content) {
  if (body.equals(content) && isComplete && status === 200) return
  if (status === undefined) {
    refuse({
      en: 'Your server does not answer. Does it write the response, and end it?',
      de: 'Dein Server antwortet nicht. Schreibt und beendet er die Antwort?'
    })
  }
  if (status !== 200) {
    refuse({ en: `The status is ${status}, not 200.`, de: `Der Status ist ${status}, nicht 200.` })
  }
  if (!isComplete) {
    refuse({
      en: 'The response does not end. A pipeline ends it; otherwise, response.end() does.',
      de: 'Die Antwort endet nicht. Eine Pipeline beendet sie, sonst tut es response.end().'
    })
  }
  if (body.equals(Buffer.from(content.toString()))) {
    refuse({
      en: 'The bytes were changed on their way. Was the file read as a text? Leave the encoding out.',
      de: 'Die Bytes wurden unterwegs verändert. Wurde die Datei als Text gelesen? Lass die Kodierung weg.'
    })
  }
  if (body.equals(content.subarray(0, body.length))) {
    refuse({
      en: `Only the first ${body.length} of ${content.length} bytes came.`,
      de: `Nur die ersten ${body.length} von ${content.length} Bytes kamen an.`
    })
  }
  refuse({
    en: 'The response is not the content of the file.',
    de: 'Die Antwort ist nicht der Inhalt der Datei.'
  })
}
