// Runs in the learner's process, before the program: the synchronous ways to read the file of the exercise fail.

import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const [, , given] = process.argv

for (const name of ['readFileSync', 'openSync']) {
  const original = fs[name]
  fs[name] = (path, ...others) => {
    if (path !== given) return original(path, ...others)
    throw Object.assign(new Error(`${name} reads synchronously`), { code: 'ERR_READ_SYNCHRONOUSLY' })
  }
}
syncBuiltinESMExports()
