// Keys and values in Chromium's Local Storage: text after a byte that gives its encoding.

const UTF16 = 0
const LATIN1 = 1

/** The text of encoded bytes. */
export const decodeText = (bytes) =>
  bytes[0] === UTF16 ? bytes.subarray(1).toString('utf16le') : bytes.subarray(1).toString('latin1')

/** Text as Chromium stores it: one byte per character where that is enough. */
export function encodeText(text) {
  const isLatin1 = [...text].every((character) => character.codePointAt(0) < 256)
  return Buffer.concat([
    Buffer.from([isLatin1 ? LATIN1 : UTF16]),
    Buffer.from(text, isLatin1 ? 'latin1' : 'utf16le')
  ])
}

/** The key under which an item of a page is stored. */
export const itemKey = (origin, name) => Buffer.concat([Buffer.from(`_${origin}\0`), encodeText(name)])

/** The items of every page, as a map from origin to a map from name to value. */
export async function listItems(db) {
  const origins = new Map()
  for await (const [key, value] of db.iterator({ gte: Buffer.from('_'), lt: Buffer.from('`') })) {
    const end = key.indexOf(0)
    const origin = key.subarray(1, end).toString()
    if (!origins.has(origin)) origins.set(origin, new Map())
    origins.get(origin).set(decodeText(key.subarray(end + 1)), decodeText(value))
  }
  return origins
}
