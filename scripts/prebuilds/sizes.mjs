// How large the builds are: as files, and as npm's archives carry them.

import { createHash } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { gzipSync } from 'node:zlib'

/** The most that an archive may have. That of the library has it twice, once with all that a linker may want. */
const MAX_PACKED_BYTES = { addon: 3_000_000, library: 8_000_000, program: 3_200_000 }

/** The sizes of the `binary` of a build and of its archive, and the hash of the `result`, which may be either. */
export function sizeOf({ binary, result }) {
  const bytes = readFileSync(result)
  return {
    plainBytes: statSync(binary).size,
    // An archive has little more than the file.
    packedBytes: result === binary ? gzipSync(bytes, { level: 9 }).length : bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex')
  }
}

export function isTooLarge({ packedBytes }, product) {
  return packedBytes > MAX_PACKED_BYTES[product]
}

/** A table of the results of {@link sizeOf}, each with its `product` and `name`. */
export function sizeTable(results) {
  const megabytes = (bytes) => `${(bytes / 1e6).toFixed(2)} MB`
  return [
    '| what | platform | plain | packed | SHA-256 |',
    '|---|---|--:|--:|---|',
    ...results.map(
      ({ product, name, plainBytes, packedBytes, sha256 }) =>
        `| ${product} | ${name} | ${megabytes(plainBytes)} | ${megabytes(packedBytes)} | ${sha256.slice(0, 16)} |`
    )
  ].join('\n')
}
