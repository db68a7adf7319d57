// The examples of a guide: each runs in a directory of its own, and prints what its comments say.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = new URL('../../../../', import.meta.url)

/** Runs every example of `docs/toolbox/<part>.md`; there must be `count` of them. */
export function checkGuide(part, count) {
  const guide = readFileSync(new URL(`docs/toolbox/${part}.md`, root), 'utf8')
  const examples = [...guide.matchAll(/^```js\n([\s\S]*?)^```$/gm)].map((match) => match[1])
  assert.equal(examples.length, count)

  for (const example of examples) {
    const expected = expectedOutput(example)
    assert.ok(expected.length > 0, 'an example prints something')
    assert.deepEqual(outputOf(example), expected)
  }
  return guide
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

/** What an example says it prints: the comments after the calls, or on lines of their own. */
function expectedOutput(example) {
  return example
    .split('\n')
    .map((line) => line.match(/(?:console\.log.*|^)\/\/ (.*)$/)?.[1])
    .filter((text) => text !== undefined && !text.endsWith(':'))
}

function outputOf(example) {
  const directory = mkdtempSync(join(tmpdir(), 'terrace-toolbox-guide-'))
  try {
    symlinkSync(fileURLToPath(new URL('node_modules', root)), join(directory, 'node_modules'))
    writeFileSync(join(directory, 'example.mjs'), example)
    const { stdout, stderr } = spawnSync(process.execPath, ['example.mjs'], {
      cwd: directory,
      encoding: 'utf8'
    })
    assert.equal(stderr, '')
    return stdout.trim().split('\n')
  } finally {
    rmSync(directory, { recursive: true })
  }
}
