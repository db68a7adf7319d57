// Builds the addon, the C library and the program for every platform that terrace has builds for, from this machine, and checks each file.
// docs/prebuilds.md tells more.
//
//   node scripts/prebuilds.mjs [--check] [PRODUCT | PLATFORM ...]    builds these, or all: products are addon, library, program
//   node scripts/prebuilds.mjs --targets                             prints Rust's names of the platforms
//
// With --check each is built a second time in another directory, and both files must be the same.

import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { putInPlace } from '../packages/terrace/scripts/cargo-build.mjs'
import { PLATFORMS } from '../packages/terrace/scripts/platforms.mjs'
import { build } from './prebuilds/build.mjs'
import { complaints } from './prebuilds/complaints.mjs'
import { inspect } from './prebuilds/inspect.mjs'
import { work } from './prebuilds/paths.mjs'
import { PRODUCTS } from './prebuilds/products.mjs'
import { brokenSignature } from './prebuilds/signature.mjs'
import { isTooLarge, sizeOf, sizeTable } from './prebuilds/sizes.mjs'

function main(args) {
  if (args.includes('--targets')) {
    for (const { target } of Object.values(PLATFORMS)) console.log(target)
    return
  }

  const wanted = args.filter((arg) => arg !== '--check')
  const unknown = wanted.filter((name) => !(name in PLATFORMS || name in PRODUCTS))
  if (unknown.length > 0) {
    const known = [...Object.keys(PRODUCTS), ...Object.keys(PLATFORMS)]
    throw new Error(`unknown: ${unknown.join(', ')}. There are ${known.join(', ')}`)
  }

  const chosen = (list) => {
    const named = wanted.filter((name) => name in list)
    return named.length > 0 ? named : Object.keys(list)
  }
  const pairs = chosen(PLATFORMS).flatMap((name) => chosen(PRODUCTS).map((product) => [product, name]))
  const results = pairs.map(([product, name], i) => {
    console.log(`prebuilds: ${product} for ${name} (${i + 1} of ${pairs.length})`)
    return buildAndCheck(product, name, args.includes('--check'))
  })

  console.log(`\n${sizeTable(results)}\n`)
  const failures = results.flatMap(({ product, name, wrong }) =>
    wrong.map((each) => `${product} for ${name}: ${each}`)
  )
  if (failures.length > 0) throw new Error(failures.join('\n'))
}

function buildAndCheck(product, name, isRepeated) {
  const platform = PLATFORMS[name]
  const made = make(product, name)
  const size = sizeOf(made)
  const wrong = [...made.wrong, ...complaints(platform, inspect(made.binary), made.expected)]
  if (isTooLarge(size, product)) wrong.push('it is too large')
  if (platform.os === 'darwin') wrong.push(...brokenSignature(readFileSync(made.binary)))
  if (isRepeated && !isSameAgain(product, name, made)) wrong.push('a second build gave other bytes')
  for (const [file, place] of made.places) {
    mkdirSync(dirname(place), { recursive: true })
    putInPlace(file, place)
  }
  return { product, name, ...size, wrong }
}

/** Builds a product for a platform, and puts together in `directory` what is published. */
function make(product, name, directory = work) {
  const files = build(PRODUCTS[product], PLATFORMS[name], join(directory, 'build'))
  const assembled = join(directory, 'assembled', name)
  mkdirSync(assembled, { recursive: true })
  return PRODUCTS[product].assemble(name, files, assembled)
}

/** Builds once more from the beginning. */
function isSameAgain(product, name, made) {
  const again = join(work, 'again')
  rmSync(again, { recursive: true, force: true })
  const isSame = readFileSync(make(product, name, again).result).equals(readFileSync(made.result))
  if (isSame) rmSync(again, { recursive: true })
  return isSame
}

try {
  main(process.argv.slice(2))
} catch (error) {
  console.error(error.message)
  process.exitCode = 1
}
