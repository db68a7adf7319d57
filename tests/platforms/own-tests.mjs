// The package's own tests: their files, and what does not hold in which runtime. Both runners take them from here.

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const directory = fileURLToPath(new URL('../../packages/terrace/test/', import.meta.url))

/** Files about the checkout: they start npm and compilers, and are the same wherever the addon runs. */
const ELSEWHERE = ['loading', 'package.long', 'prebuilds']

/** The files, named as in `packages/terrace/test`, such as `memory/basics`. */
export function ownTests() {
  const files = ['', 'memory', 'page'].flatMap((folder) =>
    readdirSync(join(directory, folder))
      .filter((file) => file.endsWith('.test.js'))
      .map((file) => join(folder, file).replaceAll('\\', '/').replace('.test.js', ''))
  )
  const gone = [...ELSEWHERE, ...Object.values(NOT_IN).flatMap(Object.keys)].filter(
    (name) => !files.includes(name)
  )
  if (gone.length > 0) throw new Error(`There is no packages/terrace/test/${gone[0]}.test.js`)
  return files.filter((name) => !ELSEWHERE.includes(name))
}

/** The path of a file of tests. */
export function ownTestFile(name) {
  return join(directory, `${name}.test.js`)
}

/**
 * Files that a runtime cannot run, with the reason.
 *
 * @type {Record<string, Record<string, string>>}
 */
export const NOT_IN = {
  Deno: {
    descriptors: 'A shell starts the program, as `PROGRAM FILE`; Deno wants `deno run --allow-all FILE`.'
  },
  Windows: {
    descriptors: 'It sets the limits of a Unix.',
    takeover: 'It moves and removes directories that are in use, which Windows refuses.'
  }
}

const THREADS_OF_ITS_OWN =
  'It counts the threads and open files of the whole process, and the runtime starts threads of its own when there is work.'

/**
 * Tests that may fail in a runtime through no fault of ours, with the reason.
 *
 * @type {Record<string, Record<string, string>>}
 */
export const MAY_FAIL = {
  Bun: {
    'no file or directory is opened or made': THREADS_OF_ITS_OWN,
    'databases that share their threads need no more of them, and close even if none can be started':
      'Bun 1.4 sometimes aborts when it cannot start a thread, as it does in a program without this package.'
  },
  Deno: {
    'no file or directory is opened or made': THREADS_OF_ITS_OWN,
    'databases that share their threads need no more of them, and close even if none can be started':
      'Deno 2.9 ends when it cannot start a thread of its own.'
  }
}
