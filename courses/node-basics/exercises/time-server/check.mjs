import { setTimeout as delay } from 'node:timers/promises'
import { soon } from '../../checks/patience.mjs'
import { connection, startServer } from '../../checks/server.mjs'

export const example = { args: ['8000'], timeoutMs: 60_000 }

/** Between one connection and the next, so that their times differ. */
const PAUSE_MS = 30

/** How far the clocks of two processes may be apart. */
const MAX_DIFFERENCE_MS = 1000

export default async function check(context) {
  const { port, socket, since } = await startServer(context, context.submission)
  const first = await checkedTime(context, socket, since)
  await delay(PAUSE_MS)
  const again = Date.now()
  const second = await checkedTime(context, await anotherConnection(context, port), again)
  if (first === second) {
    context.refuse({
      en: `Two connections got the same time, ${first}. Find out the time for each connection.`,
      de: `Zwei Verbindungen bekamen dieselbe Zeit, ${first}. Ermittle die Zeit für jede Verbindung neu.`
    })
  }
}

async function anotherConnection({ refuse }, port) {
  try {
    return await connection(port)
  } catch {
    return refuse({
      en: 'Only the first connection was answered. A server keeps waiting for the next one.',
      de: 'Nur die erste Verbindung wurde beantwortet. Ein Server wartet danach auf die nächste.'
    })
  }
}

/** The line that a connection gets, which must be the time of a moment after `since`. */
async function checkedTime({ refuse }, socket, since) {
  const { text, isClosed } = await received(socket)
  const [, time] = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)\r?\n$/.exec(text) ?? []
  if (text === '') {
    refuse({
      en: 'Your server accepts the connection, but sends nothing. socket.end(text) sends a text.',
      de: 'Dein Server nimmt die Verbindung an, sendet aber nichts. socket.end(text) sendet einen Text.'
    })
  }
  if (!isClosed) {
    refuse({
      en: 'Your server sends something, but the connection stays open. Close it with socket.end.',
      de: 'Dein Server sendet etwas, aber die Verbindung bleibt offen. Schließe sie mit socket.end.'
    })
  }
  const compared = { expected: `${new Date(since).toISOString()}\n`, actual: text }
  if (time === undefined) refuse(messageOn(text), compared)
  if (Math.abs(Date.parse(time) - since) > patientDifferenceMs(since)) {
    refuse({ en: 'This is not the current time.', de: 'Das ist nicht die aktuelle Zeit.' }, compared)
  }
  return time
}

/** A slow machine takes long from the connection to the answer. */
function patientDifferenceMs(since) {
  return MAX_DIFFERENCE_MS + Date.now() - since
}

function messageOn(text) {
  if (/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text)) {
    return {
      en: 'The line has no line break at its end. It is written \\n.',
      de: 'Am Ende der Zeile fehlt der Zeilenumbruch. Man schreibt ihn \\n.'
    }
  }
  if (/^HTTP\//.test(text)) {
    return {
      en: 'Your server speaks HTTP. Take createServer of node:net.',
      de: 'Dein Server spricht HTTP. Nimm createServer aus node:net.'
    }
  }
  return {
    en: 'The time does not have the form of new Date().toISOString().',
    de: 'Die Zeit hat nicht die Form von new Date().toISOString().'
  }
}

/** All that a socket gets until it is closed, or for a reasonable time. */
async function received(socket) {
  let text = ''
  socket.setEncoding('utf8')
  const closed = new Promise((resolve, reject) => {
    socket.on('data', (chunk) => {
      text += chunk
    })
    socket.on('end', () => resolve(true))
    socket.on('error', reject)
  })
  const isClosed = await soon(closed)
  socket.destroy()
  return { text, isClosed: isClosed === true }
}
