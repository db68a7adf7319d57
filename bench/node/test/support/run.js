// Runs the program as a user would.

import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const MAIN = fileURLToPath(new URL('../../src/main.js', import.meta.url))

/** What the program printed, and its exit code. */
export function terraceBench(...args) {
  return new Promise((resolve) => {
    execFile(process.execPath, [MAIN, ...args], { maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
      resolve({ code: error?.code ?? 0, stdout, stderr })
    })
  })
}

/** A directory that is removed after the test. */
export function temporaryDirectory(t) {
  const directory = mkdtempSync(join(tmpdir(), 'terrace-bench-test-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}
