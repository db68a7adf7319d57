// The guide of a part of the toolbox, and its program in examples/.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { HANG_MS } from '../../../../tests/support/waiting.mjs'

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

/**
 * Runs `examples/<part>.mjs`, which must succeed, print something, and leave nothing in the directory for temporary files. Returns
 * what it printed.
 */
export function checkExample(part) {
  const directory = mkdtempSync(join(tmpdir(), 'terrace-examples-'))
  try {
    const program = fileURLToPath(new URL(`examples/${part}.mjs`, root))
    const { status, stdout, stderr } = spawnSync(process.execPath, [program], {
      env: { ...process.env, TMPDIR: directory },
      encoding: 'utf8',
      timeout: HANG_MS
    })
    assert.equal(stderr, '')
    assert.equal(status, 0)
    assert.notEqual(stdout, '')
    assert.deepEqual(readdirSync(directory), [])
    return stdout
  } finally {
    rmSync(directory, { recursive: true })
  }
}
