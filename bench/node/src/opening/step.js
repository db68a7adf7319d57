/** The program of a step: see steps.js. */

import { existsSync } from 'node:fs'
import { Context } from '../context.js'
import { loadClass } from '../targets/load.js'
import { writeInOrder } from '../workloads/writes.js'
import { MARK } from './trace.js'

/** @type {import('./steps.js').Step} */
const { name, locations, directory, target, settings } = JSON.parse(process.argv[2])
const context = new Context({ target, settings, directory }, await loadClass(target), () => {})

if (name === 'die') {
  for (const location of locations) {
    const session = await context.open({ location })
    await writeInOrder(context, session, settings.n)
  }
  process.kill(process.pid, 'SIGKILL')
}

// What only the first open of a process does is done before.
await (await context.open()).close()
existsSync(MARK)
await (await context.open({ location: locations[0] })).suspend()
existsSync(MARK)
