// The signature in a file for macOS, which covers each of its pages. macOS on arm64 ends a process that loads code without one, or
// whose pages differ from it, as after a file was stripped. Ours is made by the linker and names no signer ("ad hoc").

import { createHash } from 'node:crypto'

const MACH_O_64 = 0xfeedfacf
const HEADER_BYTES = 32
const CPU_ARM64 = 0x0100000c
const LC_CODE_SIGNATURE = 0x1d
const SUPER_BLOB = 0xfade0cc0
const CODE_DIRECTORY = 0xfade0c02
const SHA_256 = 2

/** What is wrong with the signature of a Mach-O file of 64 bits: nothing, if it fits the file. Throws if it is no such file. */
export function brokenSignature(bytes) {
  if (bytes.readUInt32LE(0) !== MACH_O_64) throw new Error('not a Mach-O file of 64 bits')
  const needsOne = bytes.readUInt32LE(4) === CPU_ARM64
  const start = signatureStart(bytes)
  if (start === undefined) return needsOne ? ['it has no signature'] : []

  const directory = codeDirectory(bytes, start)
  if (directory === undefined) return ['its signature has no hashes']
  const wrong = wrongPages(bytes, directory, start)
  return wrong.length > 0 ? [`its signature does not fit ${wrong.length} of its pages`] : []
}

function signatureStart(bytes) {
  const commands = bytes.readUInt32LE(16)
  let offset = HEADER_BYTES
  for (let i = 0; i < commands; i++) {
    if (bytes.readUInt32LE(offset) === LC_CODE_SIGNATURE) return bytes.readUInt32LE(offset + 8)
    offset += bytes.readUInt32LE(offset + 4)
  }
  return undefined
}

/** Where the hashes of the pages begin. What is in a signature has the larger byte first. */
function codeDirectory(bytes, start) {
  if (bytes.readUInt32BE(start) !== SUPER_BLOB) return undefined
  const blobs = bytes.readUInt32BE(start + 8)
  for (let i = 0; i < blobs; i++) {
    const directory = start + bytes.readUInt32BE(start + 12 + 8 * i + 4)
    const isSha256 = bytes[directory + 37] === SHA_256
    if (bytes.readUInt32BE(directory) === CODE_DIRECTORY && isSha256) return directory
  }
  return undefined
}

function wrongPages(bytes, directory, start) {
  const hashes = directory + bytes.readUInt32BE(directory + 16)
  const pages = bytes.readUInt32BE(directory + 28)
  const limit = bytes.readUInt32BE(directory + 32)
  const hashBytes = bytes[directory + 36]
  const pageBytes = 2 ** bytes[directory + 39]
  // What comes before the signature is covered, all of it.
  if (limit !== start || pages !== Math.ceil(limit / pageBytes)) return ['the end']
  return Array.from({ length: pages }, (_, page) => page).filter((page) => {
    const contents = bytes.subarray(page * pageBytes, Math.min((page + 1) * pageBytes, limit))
    const expected = bytes.subarray(hashes + page * hashBytes, hashes + (page + 1) * hashBytes)
    return !createHash('sha256').update(contents).digest().subarray(0, hashBytes).equals(expected)
  })
}
