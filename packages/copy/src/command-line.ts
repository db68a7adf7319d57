/** The command line of `terrace-copy`. */

import { parseArgs } from 'node:util'
import { listed } from './back-ends.js'
import { UsageError } from './failure.js'
import { endOfPrefix, keyOf } from './key-text.js'

/** One of the two databases, as the command line names it. */
export interface Place {
  readonly text: string
  /** The path of names to a sublevel; empty for the whole database. */
  readonly sublevel: readonly string[]
  readonly optionsFile: string | undefined
}

/** The settings that the command line specifies. */
export interface Settings {
  readonly from: Place
  readonly to: Place
  readonly existing: 'refuse' | 'merge' | 'overwrite'
  readonly verify: boolean
  readonly range: { gt?: Buffer; gte?: Buffer; lt?: Buffer; lte?: Buffer }
  readonly batchSize: number | undefined
  readonly batchSizeBytes: number | undefined
  readonly json: boolean
}

export const help = `Usage: terrace-copy FROM TO [options]

Copies the entries of a database, as of one moment, into another of any kind, and verifies the copy. Each is named by

${listed()}

TO is created if it is missing, and must be empty. A copy that was stopped resumes when the same
command is run again.

  --overwrite              make TO hold exactly the entries of FROM; all others are deleted
  --merge                  keep the entries of TO that have other keys
  --no-verify              do not read TO to compare it
  --prefix KEY             only keys with this prefix
  --gt, --gte, --lt, --lte KEY
                           only keys after, from, before or up to this one; \\xNN in a key stands for any byte
  --from-sublevel NAME     copy from this sublevel; given several times, the names are a path
  --to-sublevel NAME       copy into this sublevel, likewise
  --from-options FILE      more options of the database FROM, as JSON: those of its class. Only you may be able to read
  --to-options FILE        the file, since it may hold passwords
  --batch-size N           maximum entries per batch (1000)
  --batch-size-bytes N     maximum bytes per batch (1048576)
  --json                   print the summary as JSON
  --help, --version

Passwords do not belong on a command line, which other users can read. They are taken from TERRACE_FROM_PASSWORD and
TERRACE_TO_PASSWORD, tokens of servers from TERRACE_FROM_TOKEN and TERRACE_TO_TOKEN, or from the files of options. They are
never printed.

Exit codes:
  0         done
  2         the command line or a file that it names is wrong
  3         a database cannot be used, or TO is not empty
  4         a database is in use by another process
  5         TO differs from FROM after the copy, or a database is damaged
  130, 143  stopped by SIGINT or SIGTERM
`

const text = { type: 'string' } as const
const flag = { type: 'boolean' } as const
const names = { type: 'string', multiple: true } as const
const options = {
  overwrite: flag,
  merge: flag,
  'no-verify': flag,
  prefix: text,
  gt: text,
  gte: text,
  lt: text,
  lte: text,
  'from-sublevel': names,
  'to-sublevel': names,
  'from-options': text,
  'to-options': text,
  'batch-size': text,
  'batch-size-bytes': text,
  json: flag,
  help: { type: 'boolean', short: 'h' },
  version: flag
} as const

type Values = ReturnType<typeof parsed>['values']

/**
 * Reads the command line.
 *
 * @throws UsageError
 */
export function parseCommandLine(args: readonly string[]): Settings | 'help' | 'version' {
  const { values, positionals } = parsed(args)
  if (values.help) return 'help'
  if (values.version) return 'version'

  const [from, to, ...others] = positionals
  if (from === undefined || to === undefined) throw new UsageError('two databases are needed: FROM and TO')
  if (others.length > 0) throw new UsageError(`'${others[0]}' is one argument too many`)
  if (values.merge && values.overwrite) throw new UsageError('--merge and --overwrite contradict each other')

  return {
    from: { text: from, sublevel: values['from-sublevel'] ?? [], optionsFile: values['from-options'] },
    to: { text: to, sublevel: values['to-sublevel'] ?? [], optionsFile: values['to-options'] },
    existing: values.merge ? 'merge' : values.overwrite ? 'overwrite' : 'refuse',
    verify: values['no-verify'] !== true,
    range: rangeOf(values),
    batchSize: numberOf(values, 'batch-size', 2 ** 20),
    batchSizeBytes: numberOf(values, 'batch-size-bytes', 2 ** 30),
    json: values.json === true
  }
}

function parsed(
  args: readonly string[]
): ReturnType<typeof parseArgs<{ options: typeof options; allowPositionals: true }>> {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true })
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

function rangeOf(values: Values): Settings['range'] {
  const bounds = (['gt', 'gte', 'lt', 'lte'] as const).filter((name) => values[name] !== undefined)
  if (values.prefix === undefined) {
    return Object.fromEntries(bounds.map((name) => [name, keyOf(values[name] as string)]))
  }

  if (bounds.length > 0) throw new UsageError(`--prefix and --${bounds[0]} cannot be combined`)
  const prefix = keyOf(values.prefix)
  const end = endOfPrefix(prefix)
  return end === undefined ? { gte: prefix } : { gte: prefix, lt: end }
}

function numberOf(values: Values, name: 'batch-size' | 'batch-size-bytes', max: number): number | undefined {
  const given = values[name]
  if (given === undefined) return undefined
  if (/^[1-9]\d*$/.test(given) && Number(given) <= max) return Number(given)
  throw new UsageError(`--${name} must be a whole number from 1 to ${max}`)
}
