// How large the builds are: as files, and as npm's archives carry them.

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'

/** The most that a package may have in its archive. */
const MAX_PACKED_BYTES = 3_000_000

/** The sizes of a file and its hash. An archive has little more than the file. */
export function sizeOf(file) {
  const bytes = readFileSync(file)
  return {
    plainBytes: bytes.length,
    packedBytes: gzipSync(bytes, { level: 9 }).length,
    sha256: createHash('sha256').update(bytes).digest('hex')
  }
}

export function isTooLarge({ packedBytes }) {
  return packedBytes > MAX_PACKED_BYTES
}

/** A table of the results of {@link sizeOf}, each with a `name`. */
export function sizeTable(results) {
  const megabytes = (bytes) => `${(bytes / 1e6).toFixed(2)} MB`
  return [
    '| platform | plain | packed | SHA-256 |',
    '|---|--:|--:|---|',
    ...results.map(
      ({ name, plainBytes, packedBytes, sha256 }) =>
        `| ${name} | ${megabytes(plainBytes)} | ${megabytes(packedBytes)} | ${sha256.slice(0, 16)} |`
    )
  ].join('\n')
}
