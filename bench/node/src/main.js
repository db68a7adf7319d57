#!/usr/bin/env node
/** The program: its commands are run, report, plot. */

import { UsageError, VerificationError } from './errors.js'
import { help } from './help.js'
import { parse } from './options.js'

const COMMANDS = {
  run: async () => (await import('./commands/run.js')).run,
  report: async () => (await import('./commands/report.js')).report,
  plot: async () => (await import('./commands/plot.js')).plot
}

/** @param {string[]} args */
async function main(args) {
  const [command, ...rest] = args
  if (command === undefined || command === 'help' || command === '--help' || command === '-h') {
    console.log(help(command === 'help' ? rest[0] : undefined))
    return
  }
  if (!Object.hasOwn(COMMANDS, command)) {
    throw new UsageError(
      `unknown command ${command}: choose one of ${Object.keys(COMMANDS).join(', ')} (see --help)`
    )
  }
  const name = /** @type {keyof typeof COMMANDS} */ (command)
  const parsed = parse(name, rest)
  if (parsed.values.help) {
    console.log(help(command))
    return
  }
  await (await COMMANDS[name]())(parsed)
}

try {
  await main(process.argv.slice(2))
} catch (error) {
  const isExpected = error instanceof UsageError || error instanceof VerificationError
  console.error(`terrace-bench: ${isExpected ? error.message : (error?.stack ?? error)}`)
  process.exitCode = 1
}
