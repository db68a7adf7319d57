import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Level } from 'terrace'
import { allow } from '../../support/judge.mjs'

const deadlyDisk = new URL('deadly-disk.mjs', import.meta.url)

export const example = { input: 'put gull harbour\nsync eagle hill\n', allow }

export default async function check(context) {
  const { random } = context
  const birds = [...new Set(Array.from({ length: 16 }, () => random.word(5)))]
  const notes = birds.map((bird, index) => {
    const kind = index === 3 || (index !== 4 && random.integer(1, 3) === 1) ? 'sync' : 'put'
    return { kind, bird, place: random.word(6) }
  })

  await runToItsEnd(context, notes)
  await dieInAWrite(context, notes, random.integer(3, notes.length - 2))
  await beKilled(context, notes, random.integer(3, notes.length - 2))
}

/** Without an accident: everything is answered and stored, and as durable as it should be. */
async function runToItsEnd({ submission, run, makeDirectory, refuse, expectEqual }, notes) {
  const { directory, options } = settings(makeDirectory())
  const { stdout } = await run(submission, { ...options, input: linesOf(notes) })
  expectEqual(stdout, notes.map(({ bird }) => `saved ${bird}\n`).join(''), otherOutput)
  expectEqual(await entriesIn(directory), sorted(notes), otherEntries)

  const writes = notedWrites(directory)
  for (const { kind, bird } of notes) {
    const isSynced = writes.some(({ keys, sync }) => sync && keys.includes(bird))
    if (kind === 'sync' && !isSynced) refuse(notSynced(bird))
    if (kind === 'put' && isSynced) refuse(allSynced(bird))
  }
}

/** The process ends in the middle of a write. */
async function dieInAWrite({ submission, start, makeDirectory, refuse }, notes, lastWrite) {
  const { directory, options } = settings(makeDirectory(), { lastWrite })
  const program = start(submission, options)
  program.end(linesOf(notes))
  const { stdout } = await program.result
  await refuseLost(directory, stdout, notes, refuse)
}

/** The process is killed from outside, at no particular moment. */
async function beKilled({ submission, start, makeDirectory, refuse }, notes, answers) {
  const { directory, options } = settings(makeDirectory())
  const program = start(submission, options)
  program.write(linesOf(notes))
  if ((await program.until(new RegExp(`(saved.*\n){${answers}}`))) === null) refuse(noAnswer)
  const { stdout } = await program.stop()
  await refuseLost(directory, stdout, notes, refuse)
}

/** Whatever was called saved is in the database. */
async function refuseLost(directory, stdout, notes, refuse) {
  const stored = new Map(await entriesIn(directory))
  const lost = notes.filter(({ bird, place }) => {
    return stdout.includes(`saved ${bird}\n`) && stored.get(bird) !== place
  })
  if (lost.length > 0) refuse(broken(lost.map(({ bird }) => bird)))
}

/** How to run the program with a disk that notes writes, and at which write it dies. */
function settings(directory, { lastWrite = 0 } = {}) {
  const env = {
    NODE_OPTIONS: `--import=${deadlyDisk}`,
    NOTED_WRITES: join(directory, 'noted-writes'),
    LAST_WRITE: String(lastWrite)
  }
  // It is meant to be killed, which is no failure of the program.
  const isKilled = lastWrite > 0
  return { directory, options: { directory, allow, env, allowFailure: isKilled } }
}

const linesOf = (notes) => notes.map(({ kind, bird, place }) => `${kind} ${bird} ${place}\n`).join('')

const sorted = (notes) => notes.map(({ bird, place }) => [bird, place]).sort(([a], [b]) => (a < b ? -1 : 1))

async function entriesIn(directory) {
  const db = new Level(join(directory, 'notebook'))
  const entries = await db.iterator().all()
  await db.close()
  return entries
}

function notedWrites(directory) {
  const file = join(directory, 'noted-writes')
  const text = existsSync(file) ? readFileSync(file, 'utf8').trim() : ''
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
}

const otherOutput = {
  en: 'Each line of the input must be answered by a line such as "saved gull", and nothing else is printed.',
  de: 'Jede Zeile der Eingabe muss mit einer Zeile wie „saved gull“ beantwortet werden, und sonst wird nichts ausgegeben.'
}

const otherEntries = {
  en: 'The database notebook does not have the birds and places of the input.',
  de: 'Die Datenbank notebook hat nicht die Vögel und Orte der Eingabe.'
}

const notSynced = (bird) => ({
  en: `The line with ${bird} began with sync, but it was written without the option sync: a loss of power may take it.`,
  de: `Die Zeile mit ${bird} begann mit sync, wurde aber ohne die Option sync geschrieben: Ein Stromausfall kann sie kosten.`
})

const allSynced = (bird) => ({
  en: `The line with ${bird} began with put, but it was written with sync: true. Your program waits for the disk where it need not.`,
  de: `Die Zeile mit ${bird} begann mit put, wurde aber mit sync: true geschrieben. Dein Programm wartet auf die Platte, wo es das nicht muss.`
})

const noAnswer = {
  en: 'Your program ended before it had answered, although its input was still open.',
  de: 'Dein Programm war zu Ende, bevor es geantwortet hatte, obwohl seine Eingabe noch offen war.'
}

const broken = ([bird, ...others]) => ({
  en: `Your program was killed while it wrote. It had called ${bird} saved${others.length > 0 ? ` and ${others.length} more` : ''}, but the database does not have that. Print only after the write has returned.`,
  de: `Dein Programm wurde beim Schreiben getötet. Es hatte ${bird}${others.length > 0 ? ` und ${others.length} weitere` : ''} gespeichert genannt, aber die Datenbank hat das nicht. Gib erst etwas aus, wenn der Schreibvorgang zurückgekehrt ist.`
})
