// The guide of a part of the toolbox, and its program in examples/.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = new URL('../../../../', import.meta.url)

/** The guide of a part. `make test-docs` runs what is in it. */
export function guideOf(part) {
  return readFileSync(new URL(`docs/toolbox/${part}.md`, root), 'utf8')
}

/**
 * Checks that the codes with a prefix that a guide names are those that the part's own files, or those of all parts, can throw.
 */
export function checkCodes(guide, part, prefix) {
  const directory = new URL(`../../src/${part}/`, import.meta.url)
  const found = new Set()
  const common = new URL('../', directory)
  const files = [directory, common].flatMap((within) =>
    readdirSync(within)
      .filter((name) => name.endsWith('.ts'))
      .map((name) => new URL(name, within))
  )
  for (const file of files) {
    const source = readFileSync(file, 'utf8')
    for (const [, code] of source.matchAll(new RegExp(`'(${prefix}_[A-Z_]+)'`, 'g'))) found.add(code)
  }
  const named = new Set(
    [...guide.matchAll(new RegExp(`\`(${prefix}_[A-Z_]+)\``, 'g'))].map(([, code]) => code)
  )
  assert.deepEqual([...named].sort(), [...found].sort())
}

/** Runs `examples/<part>.mjs`, which must succeed and print something. */
export function checkExample(part) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [
    fileURLToPath(new URL(`examples/${part}.mjs`, root))
  ])
  assert.equal(stderr.toString(), '')
  assert.equal(status, 0)
  assert.ok(stdout.length > 0)
  return stdout.toString()
}
