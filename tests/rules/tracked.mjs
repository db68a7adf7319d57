// The files that the house rules are about: those that git tracks, or would track if all were added.

import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { packagesIn } from '../../scripts/workspace.mjs'

/** The root of the repository. */
export const root = fileURLToPath(new URL('../../', import.meta.url))

const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
  maxBuffer: 64 << 20
})

/** Paths relative to the root, with forward slashes. Files deleted but not yet committed are left out. */
export const files = listed
  .split('\0')
  .filter((file) => file && existsSync(path.join(root, file)))
  .sort()

/** Those of `files` whose name ends in one of `extensions`, such as '.rs'. */
export const withExtension = (...extensions) =>
  files.filter((file) => extensions.includes(path.extname(file)))

const packages = packagesIn().map(({ directory }) => directory)

/** The directory of the package that a file is in, or undefined. */
export const packageOf = (file) => packages.find((directory) => file.startsWith(`${directory}/`))

/** The bytes of a tracked file. */
export const bytes = (file) => readFileSync(path.join(root, file))

/** The text of a tracked file. */
export const text = (file) => bytes(file).toString('utf8')

/** Whether a file is data: it has a zero byte in its first part, which is also git's rule. */
export const isBinary = (file) => bytes(file).subarray(0, 8000).includes(0)

/** Every place in `file` that matches `pattern` (without the flag g), as 'file:line: text of the line'. */
export function matches(file, pattern) {
  return text(file)
    .split('\n')
    .map((line, index) => [line, index + 1])
    .filter(([line]) => pattern.test(line))
    .map(([line, number]) => `${file}:${number}: ${line.trim()}`)
}
