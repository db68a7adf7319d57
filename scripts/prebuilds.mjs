// Builds the addon for every platform that terrace has builds for, from this machine, and checks each file. docs/prebuilds.md tells more.
//
//   node scripts/prebuilds.mjs [--check] [PLATFORM ...]    builds these, or all
//   node scripts/prebuilds.mjs --targets                   prints Rust's names of the platforms
//
// With --check each is built a second time in another directory, and both files must be the same.

import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { addonFile, putInPlace } from '../packages/terrace/scripts/cargo-build.mjs'
import { PLATFORMS } from '../packages/terrace/scripts/platforms.mjs'
import { build } from './prebuilds/build.mjs'
import { complaints } from './prebuilds/complaints.mjs'
import { inspect } from './prebuilds/inspect.mjs'
import { work } from './prebuilds/paths.mjs'
import { brokenSignature } from './prebuilds/signature.mjs'
import { isTooLarge, sizeOf, sizeTable } from './prebuilds/sizes.mjs'

function main(args) {
  if (args.includes('--targets')) {
    for (const { target } of Object.values(PLATFORMS)) console.log(target)
    return
  }

  const wanted = args.filter((arg) => arg !== '--check')
  const unknown = wanted.filter((name) => !(name in PLATFORMS))
  if (unknown.length > 0) {
    throw new Error(`unknown: ${unknown.join(', ')}. There are ${Object.keys(PLATFORMS).join(', ')}`)
  }

  const names = wanted.length > 0 ? wanted : Object.keys(PLATFORMS)
  const results = names.map((name, i) => {
    console.log(`prebuilds: ${name} (${i + 1} of ${names.length})`)
    return buildAndCheck(name, args.includes('--check'))
  })

  console.log(`\n${sizeTable(results)}\n`)
  const failures = results.flatMap(({ name, wrong }) => wrong.map((each) => `${name}: ${each}`))
  if (failures.length > 0) throw new Error(failures.join('\n'))
}

function buildAndCheck(name, isRepeated) {
  const platform = PLATFORMS[name]
  const file = addonFile(name)
  putInPlace(build(platform), file)
  const size = sizeOf(file)
  const wrong = complaints(platform, inspect(file))
  if (isTooLarge(size)) wrong.push('it is too large')
  if (platform.os === 'darwin') wrong.push(...brokenSignature(readFileSync(file)))
  if (isRepeated && !isSameAgain(platform, file)) wrong.push('a second build gave other bytes')
  return { name, ...size, wrong }
}

/** Builds once more from the beginning. */
function isSameAgain(platform, file) {
  const again = join(work, 'again')
  rmSync(again, { recursive: true, force: true })
  const isSame = readFileSync(build(platform, again)).equals(readFileSync(file))
  if (isSame) rmSync(again, { recursive: true })
  return isSame
}

try {
  main(process.argv.slice(2))
} catch (error) {
  console.error(error.message)
  process.exitCode = 1
}
