import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Level } from 'terrace'
import { NetLevel } from 'terrace-net'
import { allow } from '../../support/judge.mjs'

export const example = { input: '', allow }

export default async function check(context) {
  const { submission, run, makeDirectory, random, refuse, expectEqual } = context
  const birds = [...new Set(Array.from({ length: 8 }, () => random.word(5)))]
  const entries = birds.map((bird) => [bird, random.word(7)])
  const late = entries.pop()

  // Two owners at once, each of a database of its own.
  const owners = []
  for (const stored of [entries, entries.slice(0, 1)]) owners.push(await startOwner(context, stored))
  const [owner] = owners

  await put(owner.address, late)

  const elsewhere = makeDirectory()
  const guest = await run(submission, { directory: elsewhere, args: [owner.address], allow })
  if (existsSync(join(elsewhere, 'birds'))) refuse(opensItself)
  const shown = [...entries, late].sort(([a], [b]) => (a < b ? -1 : 1))
  expectEqual(guest.stdout, shown.map(([bird, place]) => `${bird} ${place}\n`).join(''), otherEntries)

  for (const { program } of owners) await end(program, refuse)
  expectEqual(await stored(owner.directory), shown, servedCopy)
}

/** Starts the program as the owner of a database with `entries`, and waits for its address. */
async function startOwner({ submission, start, makeDirectory, refuse }, entries) {
  const directory = makeDirectory()
  const db = new Level(join(directory, 'birds'))
  await db.batch(entries.map(([key, value]) => ({ type: 'put', key, value })))
  await db.close()

  const program = start(submission, { directory, allow })
  const line = await program.until(/^(.*)\n/)
  if (line === null) refuse(program.stderr.includes('EADDRINUSE') ? portInUse : noAddress)
  const address = line[1].trim()
  if (!/^(tcp|ws|unix):\S+$/.test(address))
    refuse(otherAddress, { expected: 'tcp://127.0.0.1:40123', actual: address })
  return { program, directory, address }
}

/** Stores an entry as a guest that is not the learner's. */
async function put(address, [key, value]) {
  const db = new NetLevel(address, { offlineTimeoutMs: 5000 })
  try {
    await db.put(key, value)
  } finally {
    await db.close()
  }
}

async function end(program, refuse) {
  program.end()
  const { code } = await program.result
  if (code !== 0) refuse(endsBadly)
}

async function stored(directory) {
  const db = new Level(join(directory, 'birds'))
  const entries = await db.iterator().all()
  await db.close()
  return entries
}

const noAddress = {
  en: 'Without an argument your program ended before it had printed an address.',
  de: 'Ohne Argument war dein Programm zu Ende, bevor es eine Adresse ausgegeben hatte.'
}

const portInUse = {
  en: 'Two of your servers cannot run at the same time, since both want the same port. Port 0 lets the system choose a free one.',
  de: 'Zwei deiner Server können nicht zugleich laufen, denn beide wollen denselben Port. Bei Port 0 sucht das System einen freien aus.'
}

const otherAddress = {
  en: 'The first line that your program prints is not an address. listen() returns a promise of it, which has to be awaited.',
  de: 'Die erste Zeile, die dein Programm ausgibt, ist keine Adresse. listen() gibt ein Promise darauf zurück, auf das du warten musst.'
}

const opensItself = {
  en: 'With an address your program opened the directory birds itself. On another machine there is none: only new NetLevel(address) leads to the owner.',
  de: 'Mit einer Adresse hat dein Programm selbst das Verzeichnis birds geöffnet. Auf einem anderen Rechner gibt es keines: Nur new NetLevel(address) führt zum Besitzer.'
}

const otherEntries = {
  en: 'With an address your program prints something else than the entries that the owner has.',
  de: 'Mit einer Adresse gibt dein Programm etwas anderes aus als die Einträge, die der Besitzer hat.'
}

const endsBadly = {
  en: 'Without an argument your program did not end well after its input had ended. Close the server, and then the database.',
  de: 'Ohne Argument ist dein Programm nach dem Ende seiner Eingabe nicht gut ausgegangen. Schließe den Server und danach die Datenbank.'
}

const servedCopy = {
  en: 'A guest stored an entry, but the database in the directory does not have it. Serve the Level itself, not a copy of its entries.',
  de: 'Ein Gast hat einen Eintrag gespeichert, aber die Datenbank im Verzeichnis hat ihn nicht. Biete das Level selbst an und keine Kopie seiner Einträge.'
}
