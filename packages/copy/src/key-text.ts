/** Keys as the program `terrace` reads them: plain UTF-8, with escapes for other bytes. */

import { UsageError } from './failure.js'

const ESCAPE = /\\(?:x([0-9a-fA-F]{2})|([\\nrt]))/y
const NAMED: Readonly<Record<string, number>> = { '\\': 0x5c, n: 0x0a, r: 0x0d, t: 0x09 }

/**
 * The bytes of a key: `\\` stands for a backslash, `\n`, `\r` and `\t` mean the same as elsewhere, and `\xNN` is
 * any byte.
 *
 * @throws UsageError if a backslash is followed by something else.
 */
export function keyOf(text: string): Buffer {
  const pieces: Buffer[] = []
  for (let position = 0; position < text.length; ) {
    if (text[position] === '\\') {
      ESCAPE.lastIndex = position
      const [whole, hex, named] = ESCAPE.exec(text) ?? []
      if (whole === undefined) throw new UsageError(`'${text}' has a backslash that is no escape: write \\\\`)
      pieces.push(Buffer.from([hex === undefined ? (NAMED[named as string] as number) : parseInt(hex, 16)]))
      position += whole.length
    } else {
      const next = text.indexOf('\\', position)
      const end = next === -1 ? text.length : next
      pieces.push(Buffer.from(text.slice(position, end)))
      position = end
    }
  }
  return Buffer.concat(pieces)
}

/** The first key after all that begin with a prefix; nothing if there is none. */
export function endOfPrefix(prefix: Uint8Array): Buffer | undefined {
  const end = Buffer.from(prefix)
  for (let length = end.length; length > 0; length--) {
    const last = end[length - 1] as number
    if (last === 0xff) continue
    end[length - 1] = last + 1
    return end.subarray(0, length)
  }
  return undefined
}
