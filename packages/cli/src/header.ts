/**
 * Whether a file begins as programs of a platform do. A system refuses one that does not, and then the C library's function that starts
 * programs takes it for a script of the shell.
 */

import { closeSync, openSync, readSync } from 'node:fs'
import type { Runtime } from './platform.js'

/** By system, what is at the beginning. */
const MAGIC: Readonly<Record<string, Buffer>> = {
  linux: Buffer.from('\x7fELF'),
  darwin: Buffer.from([0xcf, 0xfa, 0xed, 0xfe]),
  win32: Buffer.from('MZ')
}

/** In a file of Linux, where the processor is, and the processors. */
const MACHINE_OFFSET = 18
const MACHINES: Readonly<Record<string, number>> = { x64: 62, arm64: 183 }

const HEADER_BYTES = 20

/** Throws what the system throws when it cannot open the file. */
export function isProgramFor({ platform, arch }: Runtime, file: string): boolean {
  const magic = MAGIC[platform]
  if (magic === undefined) return true
  const header = Buffer.alloc(HEADER_BYTES)
  const descriptor = openSync(file, 'r')
  try {
    readSync(descriptor, header)
  } finally {
    closeSync(descriptor)
  }

  if (!header.subarray(0, magic.length).equals(magic)) return false
  const machine = MACHINES[arch]
  return platform !== 'linux' || machine === undefined || header.readUInt16LE(MACHINE_OFFSET) === machine
}
