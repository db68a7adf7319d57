// Every exercise is as it should be.
//
// In the full form only: it checks every exercise, with every wrong program.

import { testExercises } from '../../runner/test/support/self-checks.js'

// Many checks wait for a program that does not answer, so more run at once than there are cores.
testExercises(new URL('../', import.meta.url), { concurrency: 6, timeoutMs: 30_000 })
