/** Chromium's Session Storage: `namespace-GUID-origin` has the number of a map, `map-NUMBER-key` a value in UTF-16. */

import { textOf } from '../bytes.js'
import { prefixGroup } from './plain.js'
import { decoded, Reader } from './reader.js'

const DASH = 0x2d
const KEY = /^(?:namespace-|map-\d+-|next-map-id$|version$)/

/** Where the group of a key ends: after `map-NUMBER-`, or after `namespace-GUID-`. */
function groupEnd(key) {
  const text = textOf(key) ?? ''
  return /^(?:map-\d+-|namespace-[0-9a-f_]{30,}-)/.exec(text)?.[0].length
}

export const sessionStorageLayout = {
  id: 'session-storage',
  title: 'Session Storage of Chromium',

  recognises: ({ order, keys }) =>
    order !== 'idb_cmp1' &&
    keys.length > 0 &&
    keys.every((key) => KEY.test(textOf(key) ?? '')) &&
    keys.some((key) => key.includes(DASH)),

  grouping(node) {
    return {
      groupOf(key) {
        const end = node.prefix === undefined ? groupEnd(key) : undefined
        return end === undefined ? undefined : prefixGroup(key, end, 0)
      }
    }
  },

  describe: () => undefined,

  decode(key, value) {
    if (!/^map-\d+-/.test(textOf(key) ?? '')) return undefined
    const text = decoded(() => new Reader(value).utf16(value.length, 'little'))
    return text === undefined ? undefined : { title: 'Text', text }
  }
}
