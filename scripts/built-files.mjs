// Which files of a package's `dist` are built from its sources of today. The compiler leaves there what it made of sources that have
// been removed since.

import { existsSync } from 'node:fs'
import { basename, join } from 'node:path'
import { BUNDLES } from './bundles.mjs'

/**
 * Whether `file` is to be published: neither what is stale, nor what builds keep for the next one.
 *
 * @param packageDirectory - Such as `packages/core`.
 * @param file - A path within its `dist`, with forward slashes.
 */
export function isBuilt(packageDirectory, file) {
  const isState = basename(file).startsWith('.') || file.endsWith('.tsbuildinfo')
  return !isState && !isStale(packageDirectory, file)
}

/** Whether `file` is a script, or the types of one, whose source is gone. */
export function isStale(packageDirectory, file) {
  const script = /^(.*?)(\.d)?\.(m?)[jt]s$/.exec(file)
  if (script === null || isBundle(packageDirectory, file)) return false
  const source = `${script[1]}.${script[3]}ts`
  const sources = join(packageDirectory, 'src')
  // Where there are no sources for browsers, all are built a second time for them, in a separate directory.
  const isSecond = !existsSync(join(sources, 'browser'))
  return !existsSync(join(sources, isSecond ? source.replace(/^browser\//, '') : source))
}

function isBundle(packageDirectory, file) {
  return file in (BUNDLES[basename(packageDirectory)]?.scripts ?? {})
}
