import { join } from 'node:path'
import { allow } from '../../support/judge.mjs'
import { contentsOf, runObserved } from '../../support/observed-program.mjs'

export const example = ({ directory }) => ({ allow, args: [join(directory, 'database'), 'kingfisher'] })

export default async function check(context) {
  const { submission, solution, random, refuse } = context
  const bird = random.word(8)
  const { stdout, location, calls, isOpen } = await runObserved(context, submission, [bird])

  const contents = await contentsOf(location)
  if (contents === undefined) refuse(elsewhere)
  const entries = Object.fromEntries(contents)
  if (!Object.hasOwn(entries, 'bird')) refuse(notStored)
  if (entries.bird !== bird) refuse(otherValue, { expected: bird, actual: entries.bird })

  if (stdout.includes('Promise {')) refuse(promise)
  const reference = await runObserved(context, solution, [bird])
  if (stdout.trim() !== reference.stdout.trim()) {
    refuse(otherOutput, { expected: reference.stdout, actual: stdout })
  }
  if (!calls.some((call) => READS.includes(call))) refuse(notRead)
  if (isOpen) refuse(notClosed)
}

const READS = ['get', 'getSync', 'getMany', 'iterator', 'values']

const elsewhere = {
  en: 'There is no database in the directory that your program was given as its first argument. Pass that directory to new Level().',
  de: 'In dem Verzeichnis, das dein Programm als erstes Argument bekam, ist keine Datenbank. Übergib dieses Verzeichnis an new Level().'
}

const notStored = {
  en: 'The database holds no entry with the key bird. db.put(key, value) stores one.',
  de: 'Die Datenbank enthält keinen Eintrag mit dem Schlüssel bird. db.put(key, value) speichert einen.'
}

const otherValue = {
  en: 'The key bird has another value than the second argument.',
  de: 'Der Schlüssel bird hat einen anderen Wert als das zweite Argument.'
}

const promise = {
  en: 'Your program prints a promise, not what comes of it. Wait for the value: await db.get(key).',
  de: 'Dein Programm gibt ein Promise aus und nicht, was daraus wird. Warte auf den Wert: await db.get(key).'
}

const otherOutput = {
  en: 'The entry is stored, but your program prints something else than its value.',
  de: 'Der Eintrag ist gespeichert, aber dein Programm gibt etwas anderes aus als seinen Wert.'
}

const notRead = {
  en: 'The output is right, but your program reads nothing from the database. Print what db.get(key) returns, then you know that it is stored.',
  de: 'Die Ausgabe stimmt, aber dein Programm liest nichts aus der Datenbank. Gib aus, was db.get(key) zurückgibt, dann weißt du, dass es gespeichert ist.'
}

const notClosed = {
  en: 'Your program does not close the database. End with await db.close().',
  de: 'Dein Programm schließt die Datenbank nicht. Ende mit await db.close().'
}
