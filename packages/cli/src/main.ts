#!/usr/bin/env node
/** Runs the program `terrace` for this platform in place of this one: with the same arguments, streams, exit code and signals. */

import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { failureMessage, missingMessage } from './failure.js'
import { findPrograms } from './find-programs.js'
import { isProgramFor } from './header.js'

/** Signals to this process that are meant for the program. */
const FORWARDED = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const

/** The exit code of a killed program is this plus the signal's number, as in shells. */
const KILLED = 128

/** The exit code if no program runs here, as for what `terrace` cannot use. 1 would be the answer "no". */
const CANNOT_RUN = 3

function main(): void {
  const programs = findPrograms()
  const [first] = programs
  if (first === undefined) fail(missingMessage(process))
  else run(first, programs.slice(1))
}

/** Runs a program, or the next one if the system cannot run it: on Linux there may be one for each C library. */
function run(program: string, others: readonly string[]): void {
  const failed = (error: NodeJS.ErrnoException): void => {
    const [next] = others
    if (next === undefined) fail(failureMessage(process, program, error))
    else run(next, others.slice(1))
  }

  if (!isProgramFor(process, program)) {
    failed(new Error('it is no program for this platform'))
    return
  }

  const child = spawn(program, process.argv.slice(2), { stdio: 'inherit' })
  const forward = (signal: NodeJS.Signals): void => {
    // A terminal sends its signals to both.
    const isFromTerminal = process.stdin.isTTY && (signal === 'SIGINT' || signal === 'SIGQUIT')
    if (!isFromTerminal) child.kill(signal)
  }
  const stopForwarding = (): void => {
    for (const signal of FORWARDED) process.off(signal, forward)
  }

  for (const signal of FORWARDED) process.on(signal, forward)
  child.once('error', (error: NodeJS.ErrnoException) => {
    stopForwarding()
    failed(error)
  })
  child.once('exit', (code, signal) => {
    stopForwarding()
    if (signal === null) process.exitCode = code ?? 1
    else end(signal)
  })
}

/** Ends as the program did, so that the parent process learns of the signal. */
function end(signal: NodeJS.Signals): void {
  process.exitCode = KILLED + (constants.signals[signal] ?? 0)
  // Node handles a few signals itself, hence the exit code as well.
  process.kill(process.pid, signal)
}

function fail(message: string): void {
  console.error(message)
  process.exitCode = CANNOT_RUN
}

main()
