#!/usr/bin/env node
/** The program `terrace-copy`. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Redaction } from 'terrace-core'
import { help, parseCommandLine, type Settings } from './command-line.js'
import { explain } from './failure.js'
import { ProgressDisplay } from './progress.js'
import { jsonOf, run, sentenceOf } from './run.js'
import { addArgument, addVariables } from './secrets.js'

/** The exit code after a signal is this plus its number, as in shells. */
const KILLED = 128

const signals = { SIGINT: 2, SIGTERM: 15 } as const

/** All output passes through it. */
const redaction = new Redaction()

async function main(): Promise<void> {
  for (const argument of process.argv.slice(2)) addArgument(argument, redaction)
  addVariables(process.env, redaction)
  const settings = parseCommandLine(process.argv.slice(2))
  if (settings === 'help') {
    process.stdout.write(help)
  } else if (settings === 'version') {
    console.log(version())
  } else {
    await copyAsAsked(settings)
  }
}

async function copyAsAsked(settings: Settings): Promise<void> {
  const display = new ProgressDisplay(process.stderr, (line) => redaction.redact(line))
  const stop = new AbortController()
  let stoppedBy: keyof typeof signals | undefined
  const onSignal = (signal: keyof typeof signals): void => {
    if (stoppedBy !== undefined) process.exit(KILLED + signals[signal])
    stoppedBy = signal
    display.say(`terrace-copy: ${signal}: stopping; once more ends at once`)
    stop.abort()
  }
  for (const signal of Object.keys(signals)) process.on(signal, onSignal)

  try {
    const outcome = await run(settings, redaction, display, stop.signal)
    display.end()
    // A number may have the digits of a secret: only names are redacted.
    const shown = { ...outcome, from: redaction.redact(outcome.from), to: redaction.redact(outcome.to) }
    process.stdout.write(`${settings.json ? jsonOf(shown) : sentenceOf(shown)}\n`)
  } catch (error) {
    display.end()
    if (stoppedBy === undefined || !stop.signal.aborted || !isAbort(error)) throw error
    console.error('terrace-copy: stopped. The same command resumes the copy.')
    process.exitCode = KILLED + signals[stoppedBy]
  }
}

function isAbort(error: unknown): boolean {
  return (error as { code?: unknown }).code === 'COPY_ABORTED'
}

function version(): string {
  return JSON.parse(readFileSync(join(__dirname, '..', 'package.json'), 'utf8')).version
}

function fail(error: unknown): void {
  const { exitCode, message } = explain(error)
  console.error(`terrace-copy: ${redaction.redact(message)}`)
  process.exitCode = exitCode
}

// The reader may be gone.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})

main().catch(fail)
