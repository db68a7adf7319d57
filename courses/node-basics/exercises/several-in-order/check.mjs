import { setTimeout as delay } from 'node:timers/promises'
import { PROMISE_PRINTED } from '../../checks/messages.mjs'
import { outputsOf } from '../../checks/output.mjs'
import { soon } from '../../checks/patience.mjs'
import { randomLine } from '../../checks/samples.mjs'
import { exampleServer, WRONG_URL, withServer } from '../../checks/web.mjs'

/** The paths of the example, each with its body and after how long it comes. */
const EXAMPLE = {
  '/slow': ['an owl', 600],
  '/quick': ['two wrens', 100],
  '/slower': ['a kingfisher', 1200]
}

export async function example() {
  const url = await exampleServer(async ({ url: path }, response) => {
    const [body, ms] = EXAMPLE[path] ?? ['There is nothing here.', 0]
    await delay(ms)
    response.end(body)
  })
  return { args: Object.keys(EXAMPLE).map((path) => url + path) }
}

/** Between one answer and the next. */
const PAUSE_MS = 150

/** The first URL is answered last, whatever else. */
const ORDERS = [
  [2, 1, 0],
  [1, 2, 0]
]

export default async function check(context) {
  const { random } = context
  const bodies = ['a', 'b', 'c'].map((letter) => `${letter}${randomLine(random, 3)}`)
  const input = { bodies: random.shuffled(bodies), order: random.pick(ORDERS) }
  const observe = (file) => resultWith(context, file, input)
  const { actual, expected } = await outputsOf(context, observe, { failures: [WRONG_URL] })
  if (actual === expected) return
  context.refuse(messageOn(actual, expected, input), { expected, actual })
}

/** Answers a program when it has asked for all URLs, in the given order. Refuses it if it asks for one after the other. */
function resultWith(context, file, { bodies, order }) {
  const responses = []
  let haveAll
  const all = new Promise((resolve) => {
    haveAll = resolve
  })
  const turns = new Map(order.map((index, turn) => [index, turn]))
  let isSequential = false

  const answer = async ({ url }, response) => {
    const index = Number(url.slice(1))
    if (!(index in bodies)) return response.writeHead(404).end('There is nothing here.')
    responses[index] = response
    if (Object.keys(responses).length === bodies.length) haveAll(true)
    if (!(await soon(all))) isSequential = true
    else await delay(turns.get(index) * PAUSE_MS)
    response.end(bodies[index])
  }
  return withServer(answer, async (base) => {
    const program = context.start(file, { args: bodies.map((_, index) => `${base}/${index}`) })
    program.end()
    const result = await program.result
    if (isSequential && responses.length > 1) context.refuse(ONE_AFTER_THE_OTHER)
    return result
  })
}

const ONE_AFTER_THE_OTHER = {
  en: 'Your program asks for the next URL only when the one before has been answered. Ask for all three at once.',
  de: 'Dein Programm fragt die nächste URL erst ab, wenn die vorige beantwortet ist. Frage alle drei gleichzeitig ab.'
}

function messageOn(actual, expected, { bodies, order }) {
  if (PROMISE_PRINTED[0].test(actual)) return PROMISE_PRINTED[1]
  if (actual === order.map((index) => bodies[index]).join('\n')) {
    return {
      en: 'The bodies are printed in the order in which they came. Print them in the order of the arguments.',
      de: 'Die Bodys erscheinen in der Reihenfolge, in der sie kamen. Gib sie in der Reihenfolge der Argumente aus.'
    }
  }
  if (actual.startsWith('[')) {
    return {
      en: 'Your program prints an array. Print each body on a line of its own.',
      de: 'Dein Programm gibt ein Array aus. Gib jeden Body auf einer eigenen Zeile aus.'
    }
  }
  if (expected.startsWith(actual)) {
    return { en: 'Not all three bodies are printed.', de: 'Es werden nicht alle drei Bodys ausgegeben.' }
  }
  return { en: 'The bodies are wrong.', de: 'Die Bodys stimmen nicht.' }
}
