import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fillWithFiles, messageOnListing, messageOnNothing } from '../../checks/listing.mjs'
import { outputs } from '../../checks/output.mjs'

export function example({ directory, random }) {
  fillWithFiles(join(directory, 'birds'), random, 'md')
  return { args: ['birds', 'md'] }
}

const harness = new URL('harness.mjs', import.meta.url)

export default async function check(context) {
  const { random, makeDirectory } = context
  checkFiles(context)
  const directory = makeDirectory()
  const extension = random.pick(['md', 'csv', 'json'])
  fillWithFiles(directory, random, extension)
  await checkModule(context, { directory, extension })
  await checkFailure(context, { directory: join(directory, random.word(9)), extension })
  await checkProgram(context, { directory, extension })
}

/** The module that belongs to a program. */
function moduleOf(program) {
  return join(dirname(program), 'listing.mjs')
}

function checkFiles({ submission, refuse }) {
  if (!existsSync(moduleOf(submission))) {
    refuse({
      en: 'There is no listing.mjs beside your index.mjs.',
      de: 'Neben deiner index.mjs gibt es keine listing.mjs.'
    })
  }
  if (!/['"]\.\/listing\.mjs['"]/.test(readFileSync(submission, 'utf8'))) {
    refuse({
      en: "index.mjs does not import './listing.mjs'.",
      de: "index.mjs importiert './listing.mjs' nicht."
    })
  }
}

async function checkModule({ submission, solution, call, refuse, expectEqual }, data) {
  const observed = (program) => call(moduleOf(program), { harness, with: data })
  const [{ returned, printed, failure }, { returned: expected }] = await Promise.all([
    observed(submission),
    observed(solution)
  ])
  if (failure !== undefined) {
    refuse({ en: `The function failed: ${failure}.`, de: `Die Funktion schlug fehl: ${failure}.` })
  }
  if (printed.length > 0) {
    refuse({
      en: 'listing.mjs should return the names, and print nothing. index.mjs prints them.',
      de: 'listing.mjs soll die Namen zurückgeben und nichts ausgeben. index.mjs gibt sie aus.'
    })
  }
  if (!Array.isArray(returned)) {
    refuse(
      {
        en: 'The function of listing.mjs must return an array of names. Is there a return?',
        de: 'Die Funktion von listing.mjs muss ein Array von Namen zurückgeben. Ist ein return da?'
      },
      { expected, actual: returned }
    )
  }
  const message =
    returned.length === 0
      ? messageOnNothing(data.extension)
      : messageOnListing(returned.map(String), expected, data.extension)
  expectEqual(returned, expected, message)
}

async function checkFailure({ submission, call, refuse }, data) {
  const { failure } = await call(moduleOf(submission), { harness, with: data })
  if (failure === 'ENOENT') return
  refuse({
    en: 'If the directory does not exist, the error of readdir must reach the caller. Do not catch it.',
    de: 'Gibt es das Verzeichnis nicht, muss der Fehler von readdir beim Aufrufer ankommen. Fang ihn nicht ab.'
  })
}

async function checkProgram(context, { directory, extension }) {
  const { actual, expected } = await outputs(
    context,
    { args: [directory, extension] },
    { failures: FAILURES }
  )
  if (actual === expected) return
  const message = /Promise \{|^undefined$/.test(actual)
    ? NOT_AWAITED
    : messageOnListing(actual.split(/\r?\n/), expected.split('\n'), extension)
  context.refuse(message, { expected, actual })
}

const NOT_AWAITED = {
  en: 'In index.mjs, wait for the names: await listing(…).',
  de: 'Warte in index.mjs auf die Namen: await listing(…).'
}

const FAILURES = [[/is not iterable|\.(forEach|join|map) is not a function/, NOT_AWAITED]]
