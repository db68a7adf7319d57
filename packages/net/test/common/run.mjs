// Runs the tests of terrace-core and of the toolbox over clients of a server. The argument names one part; without it, all run.

import { runParts } from '../../../../tests/support/common.mjs'
import { name, supports } from './database.js'

await runParts({ name, supports, module: new URL('database.js', import.meta.url).href, known: {} })
