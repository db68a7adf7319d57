import type { Bytes } from 'terrace-core'

/** Stored bytes in the format that the user wants, as a copy: the bytes that came are a part of the network's buffer. */
export function inFormat(stored: Buffer, format: string | undefined): Bytes {
  return format === 'utf8' ? stored.toString() : Buffer.from(stored)
}
