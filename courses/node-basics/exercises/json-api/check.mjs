import { readdirSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { ask } from '../../checks/exchange.mjs'
import { startServer, talk } from '../../checks/server.mjs'

export const example = { args: ['8000', 'birds'], allow: ['addons'], timeoutMs: 60_000 }

export default async function check(context) {
  const { random, makeDirectory } = context
  const directory = makeDirectory()
  const [name, absent] = [random.word(5), random.word(7)]
  const [bird, later] = [randomBird(random), randomBird(random)]

  const stopped = await withServer(context, directory, async (api) => {
    await api.expectMissing(absent)
    await api.expectPut(name, bird, 201)
    await api.expectGet(name, bird)
    await api.expectPut(name, later, 204)
    await api.expectGet(name, later)
    await api.expectRefused(name)
    await api.expectGet(name, later)
    await api.expectOthers(name)
  })
  await stopped.stop()
  await withServer(context, directory, (api) => api.expectKept(name, later))
  if (readdirSync(directory).length === 0) {
    context.refuse({
      en: 'Your server keeps its birds elsewhere. The directory for them is the second argument, process.argv[3].',
      de: 'Dein Server legt seine Vögel woanders ab. Das Verzeichnis dafür ist das zweite Argument, process.argv[3].'
    })
  }
}

function randomBird(random) {
  return { grams: random.integer(5, 900), songs: [`${random.word(4)}ö`, random.word(3)] }
}

const FAILURES = [
  [
    /Unexpected token|is not valid JSON|Unexpected end of JSON|in JSON at position/,
    {
      en: 'Your server ended when it got a body that is not JSON. Catch the error, and answer with 400.',
      de: 'Dein Server endete, als er einen Body bekam, der kein JSON ist. Fang den Fehler ab und antworte mit 400.'
    }
  ]
]

/** Calls `action` with the API of a learner's server, and resolves with the program, which still runs. */
async function withServer(context, directory, action) {
  const options = { args: [directory], allow: ['addons'] }
  const { program, port, socket } = await startServer(context, context.submission, options)
  socket.destroy()
  await talk(context, program, FAILURES, () => action(new Api(context, port)))
  return program
}

/** What a client does, and expects. */
class Api {
  #refuse
  #port

  constructor({ refuse }, port) {
    this.#refuse = refuse
    this.#port = port
  }

  /** Refuses a server that does not answer with this status. */
  async #ask(method, path, body, status) {
    const exchange = await ask({ port: this.#port, method, path, body })
    if (!exchange.isComplete) {
      this.#refuse({
        en: `Your server does not answer ${method} ${path}, or does not end the answer.`,
        de: `Dein Server beantwortet ${method} ${path} nicht oder beendet die Antwort nicht.`
      })
    }
    if (exchange.status !== status) {
      this.#refuse(statusMessage(method, path, body, status), { expected: status, actual: exchange.status })
    }
    return exchange
  }

  async expectMissing(name) {
    await this.#ask('GET', `/birds/${name}`, undefined, 404)
  }

  async expectPut(name, bird, status) {
    await this.#ask('PUT', `/birds/${name}`, JSON.stringify(bird), status)
  }

  async expectGet(name, bird) {
    const { text, response } = await this.#ask('GET', `/birds/${name}`, undefined, 200)
    const { found } = parsed(text)
    if (!isDeepStrictEqual(found, bird)) {
      this.#refuse(valueMessage(text), { expected: JSON.stringify(bird), actual: text })
    }
    if (!/^application\/json\b/.test(response.headers['content-type'])) {
      this.#refuse({
        en: 'The answer to a GET has JSON in it, but no header content-type: application/json.',
        de: 'Die Antwort auf ein GET enthält JSON, aber keinen Header content-type: application/json.'
      })
    }
  }

  /** What is not JSON is refused. */
  async expectRefused(name) {
    await this.#ask('PUT', `/birds/${name}`, '{ "grams": ', 400)
  }

  async expectOthers(name) {
    await this.#ask('GET', `/fish/${name}`, undefined, 404)
    await this.#ask('DELETE', `/birds/${name}`, undefined, 405)
  }

  /** The server has been started again. */
  async expectKept(name, bird) {
    const { status, text } = await ask({ port: this.#port, path: `/birds/${name}` })
    if (status === 200 && isDeepStrictEqual(parsed(text).found, bird)) return
    this.#refuse(
      {
        en: 'After a restart of the server the bird is gone. Keep it in a Level in the given directory, and await put.',
        de: 'Nach einem Neustart des Servers ist der Vogel weg. Leg ihn in einem Level im angegebenen Verzeichnis ab und warte auf put.'
      },
      { expected: `200 ${JSON.stringify(bird)}`, actual: `${status} ${text}` }
    )
  }
}

function parsed(text) {
  try {
    return { found: JSON.parse(text) }
  } catch {
    return {}
  }
}

function statusMessage(method, path, body, status) {
  const what = `${method} ${path}${body === undefined ? '' : ` ${body}`}`
  const messages = {
    200: {
      en: 'The bird is there, so the status is 200.',
      de: 'Den Vogel gibt es, also ist der Status 200.'
    },
    201: { en: 'The name is new, so the status is 201.', de: 'Der Name ist neu, also ist der Status 201.' },
    204: {
      en: 'The name was there already, so the status is 204.',
      de: 'Den Namen gab es schon, also ist der Status 204.'
    },
    400: {
      en: 'The body is not JSON, so the status is 400.',
      de: 'Der Body ist kein JSON, also ist der Status 400.'
    },
    404: {
      en: 'There is nothing here, so the status is 404.',
      de: 'Hier gibt es nichts, also ist der Status 404.'
    },
    405: {
      en: 'Birds have no such method, so the status is 405.',
      de: 'Diese Methode gibt es für Vögel nicht, also ist der Status 405.'
    }
  }
  const { en, de } = messages[status]
  return { en: `${what}: ${en}`, de: `${what}: ${de}` }
}

function valueMessage(text) {
  if (text.includes('[object ')) {
    return {
      en: "An object was turned into a text without being JSON. Is there valueEncoding: 'json', and JSON.stringify?",
      de: "Ein Objekt wurde zu einem Text, der kein JSON ist. Sind valueEncoding: 'json' und JSON.stringify da?"
    }
  }
  return {
    en: 'A GET does not give what the last PUT has kept.',
    de: 'Ein GET liefert nicht, was das letzte PUT gespeichert hat.'
  }
}
