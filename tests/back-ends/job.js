// One job over the target that TERRACE_TARGET names, in a separate process: the suite of abstract-level, the refusals of the
// toolbox, or the probes. Sends the result to the parent.
//
//   node job.js suite|refusals|probes DIRECTORY

import { join } from 'node:path'
import { suiteOutcomes } from '../support/suite.mjs'
import { probe } from './probes/index.js'
import { refusals } from './refusals.js'
import { targetNamed } from './targets.js'

const target = targetNamed(process.env.TERRACE_TARGET)
const [job, directory] = process.argv.slice(2)
let made = 0
const location = () => join(directory, `db-${made++}`)

const jobs = {
  suite: () => suiteOutcomes((options) => target.make(location(), options)),
  refusals: () => refusals(target.make(location())),
  probes: () => probe(target, location)
}

process.send(await jobs[job](), () => process.exit())
