#!/usr/bin/env node
/** The program `terrace-workshop-runner`, for authors. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createWorkshop } from './create.js'
import { ExitCode, UsageError } from './failure.js'
import { selfCheck } from './self-check.js'

const help = `Usage: terrace-workshop-runner COMMAND

  create DIRECTORY           make a workshop to begin with; its name is that of the directory
  check-workshop DIRECTORY   check that the exercises of a workshop accept what is right and refuse what is wrong
  help, version

Exit codes: 0 done, 2 the command is wrong, 3 the workshop is.
`

async function main([command, directory, ...others]: readonly string[]): Promise<void> {
  if (command === undefined || ['help', '--help', '-h'].includes(command)) {
    process.stdout.write(help)
  } else if (['version', '--version'].includes(command)) {
    console.log(version())
  } else if (command !== 'create' && command !== 'check-workshop') {
    throw new UsageError(`There is no command '${command}'. help lists them.`)
  } else if (directory === undefined || others.length > 0) {
    throw new UsageError(`${command} needs one directory.`)
  } else if (command === 'create') {
    createWorkshop(directory, version())
    console.log(`${directory} is a workshop now. Its README.md describes the next steps.`)
  } else {
    await report(directory)
  }
}

async function report(directory: string): Promise<void> {
  const problems = await selfCheck(directory)
  for (const problem of problems) console.error(problem)
  if (problems.length > 0) process.exitCode = ExitCode.workshop
  else console.log('No problems found.')
}

function version(): string {
  return JSON.parse(readFileSync(join(__dirname, '..', 'package.json'), 'utf8')).version
}

main(process.argv.slice(2)).catch((error) => {
  console.error(`terrace-workshop-runner: ${error.message}`)
  process.exitCode = error instanceof UsageError ? ExitCode.usage : ExitCode.workshop
})
