// Every chapter is as it should be.
//
// In the full form only: it checks every chapter, with every wrong program.

import { testExercises } from '../../runner/test/support/self-checks.js'

// A check runs one process after another, so a few checks at once keep two cores busy.
testExercises(new URL('../', import.meta.url), { concurrency: 3, timeoutMs: 60_000 })
