// Every exercise is as it should be.

import { testExercises } from '../../workshop-runner/test/support/self-checks.js'

// Many checks wait for a program that does not answer, so more run at once than there are cores.
testExercises(new URL('../', import.meta.url), { concurrency: 6, timeoutMs: 30_000 })
