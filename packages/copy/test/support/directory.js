// Directories for tests.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A directory that is removed when the test `t` ends. */
export function directory(t) {
  const path = mkdtempSync(join(tmpdir(), 'terrace-copy-'))
  t.after(() => rmSync(path, { recursive: true, force: true }))
  return path
}
