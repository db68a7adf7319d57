// Scripts for pages, made by esbuild without any plugin. Only tape, which is no part of our packages, gets what it misses in a browser.

import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const here = fileURLToPath(new URL('.', import.meta.url))

/** What was made before: several tests of a file want the same. */
const made = new Map()

function bundle(contents, options) {
  const asked = JSON.stringify([contents, options])
  if (!made.has(asked)) made.set(asked, make(contents, options))
  return made.get(asked)
}

async function make(contents, options) {
  const { outputFiles, warnings } = await build({
    absWorkingDir: here,
    stdin: { contents, resolveDir: here },
    bundle: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    write: false,
    logLevel: 'silent',
    ...options
  })
  if (warnings.length > 0) throw new Error(JSON.stringify(warnings))
  return outputFiles[0].text
}

/** `terrace` as modules, so that it has the suite's copies of abstract-level and of `buffer`, whose classes the suite compares. */
const TERRACE = { terrace: fileURLToPath(new URL('browser/index.js', import.meta.resolve('terrace'))) }

/**
 * A module that imports our packages by name. Modules of Node are replaced by those that `alias` names. `options` are more of esbuild's,
 * for packages of other people.
 */
export const bundleOf = (contents, alias = {}, options = {}) =>
  bundle(contents, { ...options, alias: { ...TERRACE, ...alias } })

/** A script that sets `globalThis.tape`. What tape misses is within the script. */
export const tapeBundle = () =>
  bundle("globalThis.tape = require('tape')", {
    format: 'iife',
    alias: { path: 'path-browserify', stream: 'stream-browserify' },
    define: { global: 'globalThis', __dirname: '"/"' },
    inject: [`${here}process-of-tape.js`]
  })
