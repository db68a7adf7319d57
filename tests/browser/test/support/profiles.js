// Where browsers keep what they keep: in memory, because these tests are not about the disk.

import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { memoryDirectory } from '../../../support/memory-directory.mjs'

export const makeProfile = (name) => mkdtempSync(join(memoryDirectory(), `terrace-${name}-`))

/** A browser may write to its profile a little longer than it lives. */
export const removeProfile = (profile) =>
  rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
