// Runs a file of tests in a thread.
//
//   in-thread.js FILE

import { Worker } from 'node:worker_threads'

const [file] = process.argv.slice(2)
new Worker(file, { argv: [] }).on('exit', (code) => {
  process.exitCode = code
})
