/** Shows the progress on standard error, from the first second on. */

import type { WriteStream } from 'node:tty'
import type { CopyProgress } from 'terrace-toolbox/copy'

/** A copy that ends within this time shows nothing. */
const SHOWN_AFTER_MS = 1000
const REDRAWN_EVERY_MS = 250
/** A rate over a shorter time is meaningless. */
const MIN_RATE_TIME_SECONDS = 0.25
/** In a log or a pipe, where lines are kept. */
const LINE_EVERY_MS = 5000

const CLEAR_LINE = '\r\x1b[K'

/** A line of progress: redrawn on a terminal, otherwise printed from time to time. */
export class ProgressDisplay {
  readonly #out: NodeJS.WriteStream
  readonly #redacted: (line: string) => string
  readonly #isTerminal: boolean
  readonly #timer: NodeJS.Timeout
  readonly #began = performance.now()
  #phaseBegan = performance.now()
  #phase = ''
  #progress: CopyProgress | undefined
  #toldAt = performance.now() + SHOWN_AFTER_MS - LINE_EVERY_MS
  #isDrawn = false

  /** @param redacted - A line without secrets. */
  constructor(out: NodeJS.WriteStream, redacted: (line: string) => string) {
    this.#out = out
    this.#redacted = redacted
    this.#isTerminal = out.isTTY === true && process.env.TERM !== 'dumb'
    this.#timer = setInterval(() => this.#show(), REDRAWN_EVERY_MS)
    this.#timer.unref()
  }

  /** Begins a phase without numbers. */
  begin(what: string): void {
    this.#enter(what)
    this.#progress = undefined
  }

  /** Shows the progress of the copy. */
  update(progress: CopyProgress): void {
    if (progress.phase !== this.#phase) this.#enter(progress.phase)
    this.#progress = progress
    this.#show()
  }

  /** Prints a line apart from the progress. */
  say(line: string): void {
    this.#clear()
    this.#out.write(`${line}\n`)
  }

  /** Ends the display, and clears it from a terminal. */
  end(): void {
    clearInterval(this.#timer)
    this.#clear()
  }

  #enter(phase: string): void {
    this.#phase = phase
    this.#phaseBegan = performance.now()
  }

  #show(): void {
    const now = performance.now()
    if (now - this.#began < SHOWN_AFTER_MS || this.#phase === '') return
    if (now - this.#toldAt < (this.#isTerminal ? REDRAWN_EVERY_MS - 1 : LINE_EVERY_MS)) return
    this.#toldAt = now

    const line = describe(this.#redacted(this.#phase), this.#progress, (now - this.#phaseBegan) / 1000)
    if (!this.#isTerminal) {
      this.#out.write(`${line}\n`)
      return
    }
    // Some terminals report that they have no columns.
    const columns = (this.#out as WriteStream).columns || 80
    this.#out.write(`${CLEAR_LINE}${line.slice(0, columns - 1)}`)
    this.#isDrawn = true
  }

  #clear(): void {
    if (this.#isDrawn) this.#out.write(CLEAR_LINE)
    this.#isDrawn = false
  }
}

function describe(phase: string, progress: CopyProgress | undefined, seconds: number): string {
  if (progress === undefined) return phase
  const { entries, bytes, estimatedBytes } = progress
  const parts = [`${phase} ${entries.toLocaleString('en-US')} entries`, megabytes(bytes)]
  if (estimatedBytes !== undefined && estimatedBytes > 0) {
    const share = Math.min(1, bytes / estimatedBytes)
    parts[1] += ` of about ${megabytes(estimatedBytes)} (${Math.floor(share * 100)} %)`
    if (share > 0 && seconds >= MIN_RATE_TIME_SECONDS)
      parts.push(`${duration((seconds * (1 - share)) / share)} left`)
  }
  if (seconds >= MIN_RATE_TIME_SECONDS) {
    parts.splice(2, 0, `${Math.round(entries / seconds).toLocaleString('en-US')}/s`)
  }
  return parts.join(', ')
}

/** Bytes as megabytes. */
export function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`
}

function duration(seconds: number): string {
  const whole = Math.ceil(seconds)
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60]
  const rest = String(whole % 60).padStart(2, '0')
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, '0')}:${rest}` : `${minutes}:${rest}`
}
