// Collects garbage on demand, without a flag of the process.

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
export const collectGarbage = runInNewContext('gc')
