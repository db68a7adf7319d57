/** Keys and values in the formats of encodings. */

/** A key or a value as a database stores it. */
export type Encoded = string | Uint8Array

/** What of an encoding is used here. */
export interface Encoding {
  readonly format: string
  readonly name: string
  /** The name without that of the format that it is transcoded to. */
  readonly commonName: string
  encode(data: unknown): Encoded
  decode(data: Encoded): unknown
}

/** The bytes of what was encoded. */
export function bytesOf(encoded: Encoded): Buffer {
  if (typeof encoded === 'string') return Buffer.from(encoded)
  if (Buffer.isBuffer(encoded)) return encoded
  return Buffer.from(encoded.buffer, encoded.byteOffset, encoded.byteLength)
}

/** What an encoding of another format made, as `encoding` reads it. */
export function decodedBy(encoding: Encoding, encoded: Encoded): unknown {
  if (encoding.format === 'utf8') return encoding.decode(textOf(encoded))
  return encoding.decode(bytesOf(encoded))
}

/** The text of what was encoded. Half a surrogate pair is not stored as such. */
function textOf(encoded: Encoded): string {
  return typeof encoded === 'string' ? encoded.toWellFormed() : bytesOf(encoded).toString('utf8')
}

/** A string that is the same for the same bytes only. */
export function identityOf(bytes: Uint8Array): string {
  return bytesOf(bytes).toString('latin1')
}

const EXCLAMATION_MARK = 0x21
/** Between these, both excluded, are the bytes of a sublevel's name. */
const BELOW_NAMES = 0x22
const ABOVE_NAMES = 0x7f

/**
 * Where the keys of a sublevel within a database end, if `key` is one of them: `!name!` and what follows. Such keys are
 * those of the sublevel, they are not indexed.
 */
export function endOfSublevel(key: Uint8Array): Buffer | undefined {
  if (key[0] !== EXCLAMATION_MARK) return undefined
  let length = 1
  while (
    length < key.length &&
    (key[length] as number) > BELOW_NAMES &&
    (key[length] as number) < ABOVE_NAMES
  ) {
    length++
  }
  if (length === 1 || key[length] !== EXCLAMATION_MARK) return undefined
  const end = Buffer.from(key.subarray(0, length + 1))
  end[length] = EXCLAMATION_MARK + 1
  return end
}
