/** The views of a value, the most telling first. */

import { textOf } from '../bytes.js'
import { escaped } from '../escape.js'
import { likelyBytewiseText } from './bytewise.js'
import { hexLines } from './hex.js'
import { numbersOf } from './numbers.js'

/** Bytes of a value that text and digits show. The value can be saved whole. */
const MOST_SHOWN_BYTES = 256 * 1024

/** A value that is larger is not parsed. */
const MOST_PARSED_BYTES = 16 << 20

/** Values that begin so are JSON, if they are at all: a number alone is text as well. */
const JSON_START = /^\s*[[{"]/

/**
 * Returns the views as `{ id, title, kind, text | rows }`. `kind` is `json`, `text`, `lines` or `rows`; `isCut` says that only the first
 * part is shown.
 */
export function viewsOf(layout, key, value) {
  const views = []
  const isSmall = value.length <= MOST_PARSED_BYTES
  const own = isSmall ? layout.decode(key, value) : undefined
  if (own?.json !== undefined)
    views.push({ id: 'own', title: own.title, kind: 'json', text: pretty(own.json) })
  else if (own !== undefined) {
    const json = jsonOf(own.text)
    if (json !== undefined) views.push({ id: 'json', title: 'JSON', kind: 'json', text: json })
    views.push({ id: 'own', title: own.title, kind: 'text', text: own.text })
  }
  const text = isSmall ? textOf(value) : undefined
  const json = own === undefined && text !== undefined ? jsonOf(text) : undefined
  if (json !== undefined) views.push({ id: 'json', title: 'JSON', kind: 'json', text: json })

  const bytewise = isSmall ? likelyBytewiseText(value) : undefined
  const numbers = numbersOf(value)
  const part = value.subarray(0, MOST_SHOWN_BYTES)
  const isCut = part.length < value.length
  const asText = {
    id: 'text',
    title: 'Text',
    kind: 'text',
    text: isPrintable(text) ? cutText(text) : escaped(part),
    isCut
  }
  const asHex = { id: 'hex', title: 'Hex', kind: 'lines', text: hexLines(part).join('\n'), isCut }
  const asNumbers = { id: 'numbers', title: 'Numbers', kind: 'rows', rows: numbers }
  const asBytewise = { id: 'bytewise', title: 'bytewise', kind: 'text', text: bytewise }

  if (isPrintable(text)) views.push(...(own?.title === 'Text' ? [] : [asText]))
  if (numbers.length > 0) views.push(asNumbers)
  if (bytewise !== undefined) views.push(asBytewise)
  views.push(asHex)
  if (!isPrintable(text)) views.push({ ...asText, title: 'Escaped' })
  // Bytes that are neither text nor known are first of all bytes.
  const first = views[0]
  if (first.id === 'numbers' || first.id === 'bytewise')
    views.unshift(...views.splice(views.indexOf(asHex), 1))
  return views
}

const pretty = (json) => (json === undefined ? 'undefined' : JSON.stringify(json, null, 2))

function jsonOf(text) {
  if (text === undefined || !JSON_START.test(text)) return undefined
  try {
    return pretty(JSON.parse(text))
  } catch {
    return undefined
  }
}

const cutText = (text) => text.slice(0, MOST_SHOWN_BYTES)

/** Characters that no text has: control characters other than tabs and line breaks. */
const CONTROL = /(?![\t\n\r])\p{Cc}/u

const isPrintable = (text) => text !== undefined && !CONTROL.test(text)
