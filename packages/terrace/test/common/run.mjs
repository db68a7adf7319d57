// Runs the tests of terrace-core and of the toolbox over MemoryLevel. The argument names one part; without it, all run, or in the
// short form the quick ones.

import { runParts } from '../../../../tests/support/common.mjs'
import { isShort } from '../../../../tests/support/form.mjs'
import { name, supports } from './database.js'
import { known } from './known.js'

const tested = { name, supports, module: new URL('database.js', import.meta.url).href, known }
await runParts(tested, isShort ? ['ttl', 'lock', 'streams'] : undefined)
