/** What a check has to work with. */

import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { dirname, join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import type { Call, CallMessage } from './call-messages.js'
import { comparison } from './comparison.js'
import { WorkshopError } from './failure.js'
import { judgeCall, judgeProgram, type Problem } from './judgement.js'
import { readableErrors } from './learner-errors.js'
import type { Packages } from './packages.js'
import { Program, type ProgramOptions, type ProgramResult } from './program.js'
import type { Random } from './random.js'
import { Refusal } from './refusal.js'
import type { Say } from './texts/index.js'
import { inLanguage, type LocalText } from './workshop.js'

const CALL_MODULE = join(__dirname, 'call-module.js')

/** How to run a program. */
export interface RunOptions extends Partial<Omit<ProgramOptions, 'ipc' | 'packages'>> {
  /** What it reads from its standard input. */
  readonly input?: string | Uint8Array
  /** Do not refuse a program that ends with another exit code than 0, or by a signal. */
  readonly allowFailure?: boolean
}

/** How to call a function of a module. */
export interface CallOptions extends Partial<Omit<ProgramOptions, 'ipc' | 'packages' | 'args'>> {
  /** What the function is called with, or the harness. Anything that can be sent between processes. */
  readonly with?: unknown
  /** A module whose default export calls the function: `(called, data, { directory, module }) => result`. */
  readonly harness?: string | URL
  /** The name of the export to call. By default `default`. */
  readonly export?: string
}

/** What two values a refusal shows. */
export interface Compared {
  readonly expected: unknown
  readonly actual: unknown
}

/** What the context is made from. */
export interface CheckSettings {
  readonly submission: string
  readonly solution: string
  /** The directory of the workshop. */
  readonly workshop: string
  /** Names of packages of the workshop that the learner's program may import. */
  readonly packages: readonly string[]
  readonly directory: string
  readonly seed: number
  readonly random: Random
  readonly language: string
  readonly say: Say
}

/** What a check is called with. */
export class CheckContext {
  /** The path of the learner's program. */
  readonly submission: string
  /** The path of the reference solution. */
  readonly solution: string
  /** A fresh directory, which is removed afterwards. Programs run in it, and may write into it alone. */
  readonly directory: string
  /** Random numbers. A failed check tells their seed. */
  readonly random: Random
  readonly seed: number
  /** The code of the learner's language. */
  readonly language: string
  /** What the learner's program has printed last. @internal */
  lastOutput = ''
  /** Why the learner's program would be refused, found while the check was running. @internal */
  firstProblem: Problem | undefined
  /** Whether the check talks to the learner's program, so that an error of the check may come from it. @internal */
  hasTalked = false
  private readonly running = new Set<Program>()

  /** @internal */
  constructor(private readonly settings: CheckSettings) {
    this.submission = settings.submission
    this.solution = settings.solution
    this.directory = settings.directory
    this.random = settings.random
    this.seed = settings.seed
    this.language = settings.language
    // Checks take the context apart: `({ run, refuse }) => …`.
    this.makeDirectory = this.makeDirectory.bind(this)
    this.run = this.run.bind(this)
    this.start = this.start.bind(this)
    this.call = this.call.bind(this)
    this.refuse = this.refuse.bind(this)
    this.expectEqual = this.expectEqual.bind(this)
  }

  /** Makes one more fresh directory. It is removed with the first one. */
  makeDirectory(): string {
    return mkdtempSync(join(this.directory, 'directory-'))
  }

  /** Returns a port of this machine without a listener. */
  async freePort(): Promise<number> {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    server.close()
    await once(server, 'close')
    return port
  }

  /**
   * Runs a program to its end. The learner's is refused if it fails, does not end in time, prints too much or writes elsewhere.
   */
  async run(file: string, options: RunOptions = {}): Promise<ProgramResult> {
    const program = this.started(file, options)
    program.end(options.input)
    const result = await program.result
    this.throwIf(file, judgeProgram(result, options, this.settings.say))
    return result
  }

  /** Starts a program that the check talks to, such as a server. It is killed when the check ends. */
  start(file: string, options: RunOptions = {}): Program {
    if (this.isLearners(file)) this.hasTalked = true
    return this.started(file, options)
  }

  private started(file: string, options: RunOptions): Program {
    const directory = options.directory ?? this.directory
    const program = new Program(file, { ...options, directory, packages: this.packagesFor(file) })
    this.track(program, file, options)
    return program
  }

  /**
   * Calls a function of a module in a separate process, and returns its result. The learner's module is refused if it throws, never
   * finishes, prints too much or writes elsewhere.
   */
  async call(file: string, options: CallOptions = {}): Promise<unknown> {
    const { with: data, harness, export: exportName = 'default', ...others } = options
    const directory = options.directory ?? this.directory
    const program = new Program(CALL_MODULE, {
      ...others,
      directory,
      packages: this.packagesFor(file),
      ipc: true
    })
    this.track(program, file, options)
    let message: CallMessage | undefined
    program.child.once('message', (each) => {
      message ??= each as CallMessage
    })
    const call: Call = { file, exportName, harness: pathOf(harness), data }
    // The process may have been killed already, which its result then says.
    program.child.send(call, () => {})
    const result = await program.result
    this.throwIf(file, judgeCall(message, result, options, this.settings.say))
    return (message as CallMessage & { kind: 'returned' }).value
  }

  /** Ends the check: the program is not accepted, for this reason. The message may be given for each language. */
  refuse(message: LocalText, compared?: Compared): never {
    const { language, say } = this.settings
    const details = compared === undefined ? '' : comparison(compared.expected, compared.actual, say)
    throw new Refusal(inLanguage(message, language), details)
  }

  /** Refuses the program unless both values are deeply equal, their types included. */
  expectEqual(actual: unknown, expected: unknown, message?: LocalText): void {
    if (isDeepStrictEqual(actual, expected)) return
    this.refuse(message ?? this.settings.say('not-equal'), { expected, actual })
  }

  /** Ends all programs that still run. @internal */
  async stopAll(): Promise<void> {
    await Promise.all([...this.running].map((program) => program.stop()))
  }

  /** The packages that Node would not find for a program. A program inside the workshop finds all of them. */
  private packagesFor(file: string): Packages | undefined {
    const { packages, workshop } = this.settings
    if (packages.length === 0 || file.startsWith(workshop + sep)) return undefined
    return { names: packages, from: workshop }
  }

  private track(program: Program, file: string, options: RunOptions): void {
    this.running.add(program)
    program.result.then(
      (result) => {
        this.running.delete(program)
        if (!this.isLearners(file)) return
        this.lastOutput = result.stdout
        if (!result.stopped) this.firstProblem ??= judgeProgram(result, options, this.settings.say)
      },
      () => this.running.delete(program)
    )
  }

  /** Whether a file is the learner's: the program, or a module that belongs to it. */
  private isLearners(file: string): boolean {
    return file === this.submission || (file !== this.solution && dirname(file) === dirname(this.submission))
  }

  private throwIf(file: string, problem: Problem | undefined): void {
    if (problem === undefined) return
    const own = dirname(this.submission)
    const details = readableErrors(problem.details, { workshop: this.settings.workshop, own })
    if (this.isLearners(file)) throw new Refusal(problem.message, details)
    throw new WorkshopError(`${file}: ${problem.message}\n${problem.details}`)
  }
}

function pathOf(file: string | URL | undefined): string | undefined {
  return file instanceof URL ? fileURLToPath(file) : file
}
