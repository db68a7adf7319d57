// Processes that write until they are killed.

import { Other } from '../../../../../tests/support/back-ends/processes.mjs'
import { openLevel } from './databases.js'

const WRITER = new URL('writer.js', import.meta.url)

/** Writers on a location, see `killWriters()`. */
export const writersOn = (t, location, options) => ({
  startWriter: (first) => new Other(t, WRITER, location, `${first}`, JSON.stringify(options)),
  openLevel: () => openLevel(t, options, location),
  longestPauseMs: 600
})
