#!/usr/bin/env node
/** The program `terrace-serve`. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Redaction } from 'terrace-core'
import { help, parseCommandLine } from './command-line.js'
import { type Serving, serve } from './serve.js'
import { UsageError } from './usage-error.js'

const FAILURE = 1
const WRONG_USAGE = 2

/** What is added to a signal's number, as shells do. */
const KILLED = 128

/** Everything that is printed about errors goes through it. */
const redaction = new Redaction()

const signals = { SIGINT: 2, SIGTERM: 15 } as const

async function main(): Promise<void> {
  for (const argument of process.argv.slice(2)) {
    const url = argument.search(/[a-z][a-z0-9+.-]+:\/\/[^/]/i)
    if (url !== -1) redaction.addUrl(argument.slice(url))
  }
  const settings = parseCommandLine(process.argv.slice(2))
  if (settings === 'help') {
    process.stdout.write(help)
    return
  }
  if (settings === 'version') {
    console.log(version())
    return
  }

  const serving = await serve(settings, (line) => console.error(`terrace-serve: ${redaction.redact(line)}`))
  endOnSignals(serving)
  const lines = serving.addresses.map((address) => `listening ${address}\n`)
  if (serving.metrics !== undefined) lines.push(`metrics ${serving.metrics}\n`)
  process.stdout.write(lines.join(''))
}

/** The first signal ends the program in good order, the second at once. */
function endOnSignals(serving: Serving): void {
  let isEnding = false
  for (const [signal, number] of Object.entries(signals)) {
    process.on(signal, () => {
      if (isEnding) process.exit(KILLED + number)
      isEnding = true
      console.error(`terrace-serve: ${signal}: finishing; once more ends at once`)
      serving.close().catch(fail)
    })
  }
}

function version(): string {
  return JSON.parse(readFileSync(join(__dirname, '..', '..', 'package.json'), 'utf8')).version
}

function fail(error: Error): void {
  const isUsage = error instanceof UsageError
  console.error(`terrace-serve: ${redaction.redact(error.message)}${isUsage ? '' : codeOf(error)}`)
  process.exitCode = isUsage ? WRONG_USAGE : FAILURE
}

function codeOf(error: Error): string {
  return 'code' in error ? ` (${error.code})` : ''
}

main().catch(fail)
