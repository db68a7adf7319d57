/** The program of a workshop. */

import { constants } from 'node:os'
import { basename, extname, relative, sep } from 'node:path'
import { parseArgs } from 'node:util'
import * as commands from './commands.js'
import { ExitCode, UsageError, WorkshopError } from './failure.js'
import { menu } from './menu.js'
import { painter } from './paint.js'
import { anySeed } from './random.js'
import { Session } from './session.js'
import { run, verify } from './submission.js'
import { type Say, speaker } from './texts/index.js'
import { readWorkshop, type Workshop, workshopDirectory } from './workshop.js'

const options = {
  anyway: { type: 'boolean' },
  seed: { type: 'string' },
  language: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean' }
} as const

type Values = { anyway?: boolean; seed?: string; language?: string; help?: boolean; version?: boolean }

/** A command, and the most arguments that it takes. */
interface Command {
  readonly maxArgs: number
  readonly act: (session: Session, args: readonly string[], values: Values) => unknown
}

const COMMANDS: Readonly<Record<string, Command>> = {
  list: { maxArgs: 0, act: commands.list },
  select: { maxArgs: 1, act: (session, [name]) => commands.select(session, name) },
  next: { maxArgs: 0, act: commands.next },
  print: { maxArgs: 0, act: commands.print },
  run: {
    maxArgs: Number.POSITIVE_INFINITY,
    act: (session, [file, ...args], values) => run(session, { file, seed: seedOf(session.say, values) }, args)
  },
  verify: {
    maxArgs: 1,
    act: (session, [file], values) => verify(session, { file, seed: seedOf(session.say, values) })
  },
  hint: { maxArgs: 0, act: commands.hint },
  solution: { maxArgs: 0, act: (session, _, { anyway = false }) => commands.solution(session, anyway) },
  status: { maxArgs: 0, act: commands.status },
  reset: { maxArgs: 0, act: commands.reset },
  language: { maxArgs: 1, act: (session, [code]) => commands.language(session, code) },
  help: { maxArgs: 0, act: printHelp },
  version: { maxArgs: 0, act: ({ workshop }) => console.log(workshop.version) }
}

/**
 * Runs the program of a workshop, and sets the exit code of the process. It never rejects: what goes wrong is printed.
 *
 * @param location - The directory with `workshop.json`, as a URL or a path.
 * @param args - The command line, without Node and the program.
 */
export async function runWorkshop(location: URL | string, args = process.argv.slice(2)): Promise<void> {
  endOnSignals()
  const directory = workshopDirectory(location)
  try {
    await dispatch(directory, args)
  } catch (error) {
    process.exitCode = error instanceof UsageError ? ExitCode.usage : ExitCode.workshop
    const isKnown = error instanceof UsageError || !(error instanceof WorkshopError)
    const preface = isKnown ? [] : [speaker(languageOfEnvironment())('workshop-wrong')]
    console.error([...preface, (error as Error).message].join('\n'))
  }
}

async function dispatch(directory: string, args: readonly string[]): Promise<void> {
  const { values, positionals } = parsed(args)
  const workshop = readWorkshop(directory)
  const session = new Session({
    workshop,
    program: programName(workshop),
    directory: process.cwd(),
    language: values.language,
    paint: painter(process.stdout)
  })

  const [name = defaultCommand(values), ...others] = positionals
  if (name === 'menu') {
    await (process.stdin.isTTY && process.stdout.isTTY ? menu(session) : commands.list(session))
    return
  }
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (command === undefined) throw new UsageError(session.say('unknown-command', { command: name }))
  const extra = others[command.maxArgs]
  if (extra !== undefined) throw new UsageError(session.say('too-many', { argument: extra }))
  await command.act(session, others, values)
}

/** How the learner calls the program: by its name where it is installed, otherwise as a file. */
function programName({ name }: Workshop): string {
  const file = process.argv[1] ?? name
  const isInstalled = extname(file) === '' || file.split(sep).includes('node_modules')
  const program = isInstalled ? (extname(file) === '' ? basename(file) : name) : `node ${relative('', file)}`
  return process.env.npm_command === 'exec' ? `npx ${program}` : program
}

function defaultCommand({ help, version }: Values): string {
  if (help) return 'help'
  return version ? 'version' : 'menu'
}

function parsed(args: readonly string[]): { values: Values; positionals: string[] } {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true })
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

function printHelp({ say, program }: Session): void {
  console.log(say('help', { program }))
}

const MAX_SEED = 2 ** 32 - 1

function seedOf(say: Say, { seed }: Values): number {
  if (seed === undefined) return anySeed()
  if (/^\d+$/.test(seed) && Number(seed) <= MAX_SEED) return Number(seed)
  throw new UsageError(say('not-a-number', { option: 'seed' }))
}

/** What the shell adds to the number of a signal. */
const KILLED = 128

/** A learner's program does not hear the terminal's signals, so it is ended here: `process.exit` does that. */
function endOnSignals(): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => process.exit(KILLED + constants.signals[signal]))
  }
}

/** The language for errors of a workshop that cannot be read. */
function languageOfEnvironment(): string {
  return (process.env.LC_ALL || process.env.LC_MESSAGES || process.env.LANG || '').slice(0, 2)
}
