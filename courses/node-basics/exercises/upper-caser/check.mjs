import { Exchange } from '../../checks/exchange.mjs'
import { randomLine } from '../../checks/samples.mjs'
import { startServer, talk } from '../../checks/server.mjs'

export const example = { args: ['8000'], timeoutMs: 60_000 }

export default async function check(context) {
  const { random, submission } = context
  const { program, port, socket } = await startServer(context, submission)
  socket.destroy()
  const [first, second] = [randomLine(random, 4), ` ${randomLine(random, 3)}`]
  // The last letter has two bytes, which come apart.
  const bytes = Buffer.from(`${randomLine(random, 4)} ö`)
  await talk(context, program, FAILURES, async () => {
    await checkBody(context, port, Buffer.from(first), Buffer.from(second))
    await checkBody(context, port, bytes.subarray(0, -1), bytes.subarray(-1))
  })
}

const FAILURES = [
  [
    /toUpperCase is not a function/,
    {
      en: "A chunk is bytes. After request.setEncoding('utf8') it is a text.",
      de: "Ein Stück besteht aus Bytes. Nach request.setEncoding('utf8') ist es ein Text."
    }
  ]
]

/** Sends one part, waits for an answer, and sends the other. */
async function checkBody({ refuse }, port, first, second) {
  const exchange = new Exchange({ port, method: 'POST' })
  exchange.send(first)
  const isPrompt = await exchange.has(1)
  const { status, isComplete, text } = await exchange.end(second)
  const sent = Buffer.concat([first, second]).toString()
  const expected = sent.toUpperCase()
  if (status === 200 && isComplete && isPrompt && text === expected) return
  if (status === undefined) refuse(NO_ANSWER)
  if (status !== 200) {
    refuse({ en: `The status is ${status}, not 200.`, de: `Der Status ist ${status}, nicht 200.` })
  }
  if (text !== expected) {
    const reason = messageOn(text, sent, first.toString().toUpperCase())
    refuse(reason, { expected, actual: text })
  }
  refuse(isComplete ? TOO_LATE : NO_END)
}

const NO_ANSWER = {
  en: 'Your server does not answer a POST. Does it write the response, and end it?',
  de: 'Dein Server beantwortet ein POST nicht. Schreibt und beendet er die Antwort?'
}

const NO_END = {
  en: 'The response does not end when the request has ended. A pipeline ends it; otherwise, response.end() does.',
  de: 'Die Antwort endet nicht, wenn die Anfrage zu Ende ist. Eine Pipeline beendet sie, sonst tut es response.end().'
}

const TOO_LATE = {
  en: 'Your server answers only when the whole request has come. Send each chunk back at once.',
  de: 'Dein Server antwortet erst, wenn die ganze Anfrage da ist. Sende jedes Stück sofort zurück.'
}

/** On a wrong text. `first` is what the first part should have become. */
function messageOn(text, sent, first) {
  if (text === sent) {
    return { en: 'The body comes back unchanged.', de: 'Der Body kommt unverändert zurück.' }
  }
  if (text.includes('\uFFFD')) {
    return {
      en: "A letter was cut in two by the end of a chunk. request.setEncoding('utf8') keeps letters whole.",
      de: "Das Ende eines Stücks hat einen Buchstaben zerteilt. request.setEncoding('utf8') hält Buchstaben zusammen."
    }
  }
  if (text === '' || text === first) {
    return {
      en: 'The response ended before the request did, so a part of it is missing.',
      de: 'Die Antwort endete vor der Anfrage, deshalb fehlt ein Teil.'
    }
  }
  if (text === sent.replace(/[a-z]/g, (letter) => letter.toUpperCase())) {
    return {
      en: 'Letters such as ö have capital forms as well: toUpperCase() knows them.',
      de: 'Auch Buchstaben wie ö gibt es groß: toUpperCase() kennt sie.'
    }
  }
  return {
    en: 'The response is not the body in capital letters.',
    de: 'Die Antwort ist nicht der Body in Großbuchstaben.'
  }
}
