/** Programs in child processes: limited in time, output and where they write. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { type Packages, packagesEnvironment, registerHooks } from './packages.js'
import { type Allowance, permissionFlags } from './permission.js'
import { groupOptions, killGroup, watch } from './process-group.js'

const PRELOAD = join(__dirname, 'preload.js')

const DEFAULT_TIMEOUT_MS = 10_000

/** Has another default of a program's time, in milliseconds, for slow machines. */
const TIMEOUT_VARIABLE = 'TERRACE_WORKSHOP_TIMEOUT_MS'

/** The time that a program has unless its check says otherwise, in milliseconds. */
export function defaultTimeoutMs(): number {
  const given = process.env[TIMEOUT_VARIABLE] ?? ''
  return /^[1-9]\d{0,8}$/.test(given) ? Number(given) : DEFAULT_TIMEOUT_MS
}

/** More than this of one stream ends a program. */
export const MAX_OUTPUT_BYTES = 1 << 20

/** How long output may still come after a process has ended, from one that it started and that was not found. */
const MAX_LATE_OUTPUT_MS = 2000

export interface ProgramOptions {
  /** Arguments after the name of the file. */
  readonly args?: readonly string[]
  /** More variables of the environment. */
  readonly env?: Readonly<Record<string, string>>
  /** The directory that the program runs in, and the only one that it may write into. */
  readonly directory: string
  /** The time after which it is killed, in milliseconds. */
  readonly timeoutMs?: number
  /** What it may do besides reading everything and writing into its directory. */
  readonly allow?: readonly Allowance[]
  /** What it may import besides what is found beside it. @internal */
  readonly packages?: Packages
  /** A channel for messages. The program then has no input. */
  readonly ipc?: boolean
}

/** How a program ended. */
export interface ProgramResult {
  readonly stdout: string
  readonly stderr: string
  /** The exit code, or null if a signal ended it. */
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  /** Whether it was killed because its time was over. */
  readonly timedOut: boolean
  /** Whether it was killed because it printed more than 1 MiB. */
  readonly tooMuchOutput: boolean
  /** Whether the check stopped it. */
  readonly stopped: boolean
}

/** A program that runs. */
export class Program {
  readonly child: ChildProcess
  /** Resolves when the program has ended and all of its output was read. */
  readonly result: Promise<ProgramResult>
  private readonly output = { stdout: new Output(), stderr: new Output() }
  private timedOut = false
  private stopped = false

  constructor(
    readonly file: string,
    options: ProgramOptions
  ) {
    const {
      args = [],
      directory,
      timeoutMs = defaultTimeoutMs(),
      allow = [],
      packages,
      ipc = false
    } = options
    const hooks: Allowance[] = packages !== undefined && registerHooks === undefined ? ['workers'] : []
    const flags = ['--require', PRELOAD, ...permissionFlags(directory, [...allow, ...hooks])]
    this.child = spawn(process.execPath, [...flags, file, ...args], {
      ...groupOptions,
      cwd: directory,
      env: { ...environment(directory), ...options.env, ...(packages && packagesEnvironment(packages)) },
      stdio: ipc ? ['ignore', 'pipe', 'pipe', 'ipc'] : ['pipe', 'pipe', 'pipe'],
      serialization: 'advanced'
    })
    watch(this.child)
    // A program may end before it has read its input.
    this.child.stdin?.on('error', () => {})
    const timer = setTimeout(() => {
      this.timedOut = true
      killGroup(this.child)
    }, timeoutMs)
    this.result = this.ended().finally(() => clearTimeout(timer))
  }

  get stdout(): string {
    return this.output.stdout.text
  }

  get stderr(): string {
    return this.output.stderr.text
  }

  /** Writes to its input. */
  write(input: string | Uint8Array): void {
    this.child.stdin?.write(input)
  }

  /** Ends its input. */
  end(input?: string | Uint8Array): void {
    if (input === undefined) this.child.stdin?.end()
    else this.child.stdin?.end(input)
  }

  /** Kills it. A program that has ended already stays as it ended. */
  async stop(): Promise<ProgramResult> {
    if (this.child.exitCode === null && this.child.signalCode === null) {
      this.stopped = true
      killGroup(this.child)
    }
    return this.result
  }

  /** Waits until its output matches. Resolves with null if it ends before. */
  async until(pattern: RegExp): Promise<RegExpExecArray | null> {
    const stream = this.output.stdout
    let found = pattern.exec(stream.text)
    const isOver = this.result.then(() => true)
    while (found === null) {
      const over = await Promise.race([isOver, stream.more().then(() => false)])
      found = pattern.exec(stream.text)
      if (over) break
    }
    return found
  }

  private async ended(): Promise<ProgramResult> {
    const { child } = this
    for (const name of ['stdout', 'stderr'] as const) {
      child[name]?.on('data', (chunk: Buffer) => {
        this.output[name].add(chunk)
        if (this.output[name].isTooMuch) killGroup(child)
      })
    }
    child.once('exit', () => {
      const late = setTimeout(() => {
        child.stdout?.destroy()
        child.stderr?.destroy()
      }, MAX_LATE_OUTPUT_MS)
      child.once('close', () => clearTimeout(late))
    })
    const [code, signal] = await once(child, 'close')
    const { stdout, stderr } = this.output
    return {
      stdout: stdout.text,
      stderr: stderr.text,
      code,
      signal,
      timedOut: this.timedOut,
      tooMuchOutput: stdout.isTooMuch || stderr.isTooMuch,
      // It may have ended before it was stopped.
      stopped: this.stopped && (signal === 'SIGKILL' || process.platform === 'win32')
    }
  }
}

/** What a stream has printed, up to a limit. */
class Output {
  private readonly chunks: Buffer[] = []
  private length = 0
  private joined: string | undefined = ''
  private listeners: (() => void)[] = []
  isTooMuch = false

  add(chunk: Buffer): void {
    const room = MAX_OUTPUT_BYTES - this.length
    this.isTooMuch ||= chunk.length > room
    const kept = chunk.subarray(0, room)
    this.length += kept.length
    this.chunks.push(kept)
    this.joined = undefined
    for (const listener of this.listeners.splice(0)) listener()
  }

  get text(): string {
    this.joined ??= Buffer.concat(this.chunks).toString('utf8')
    return this.joined
  }

  /** Resolves when more has come. */
  more(): Promise<void> {
    return new Promise((resolve) => this.listeners.push(resolve))
  }
}

/** The environment of a program: that of the runner, without what would change how its Node behaves. */
function environment(directory: string): NodeJS.ProcessEnv {
  const { NODE_OPTIONS, NODE_TEST_CONTEXT, NODE_V8_COVERAGE, FORCE_COLOR, ...env } = process.env
  return { ...env, TMPDIR: directory, TMP: directory, TEMP: directory }
}
