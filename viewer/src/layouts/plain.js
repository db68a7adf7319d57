/**
 * Keys of any program, in bytewise order: they are grouped at their separators, as in `user:17:name`, `a/b/c`, or abstract-level's
 * sublevels, `!name!key`.
 */

import { afterPrefix, commonLength, textOf } from '../bytes.js'
import { characterLength, escaped } from '../escape.js'

const MARK = 0x21
const SEPARATORS = new Set([...'!:/|~#'].map((character) => character.charCodeAt(0)))

/** Where the first part of a key after `from` ends, its separators included; undefined if no separator follows. */
export function partEnd(key, from) {
  if (key[from] === MARK) {
    const end = key.indexOf(MARK, from + 1)
    return end < 0 ? undefined : end + 1
  }
  for (let at = from; at < key.length; at++) {
    if (key[at] === 0) return isText(key.subarray(from, at)) ? at + 1 : undefined
    if (!SEPARATORS.has(key[at])) continue
    let end = at + 1
    while (SEPARATORS.has(key[end]) && key[end] !== MARK) end++
    return end
  }
  return undefined
}

const isText = (bytes) =>
  bytes.length > 0 && textOf(bytes) !== undefined && bytes.every((byte) => byte >= 0x20)

/** The group of keys that begin with the first `length` bytes of `key`. Its label leaves out what its parent's says, `shown` bytes. */
export function prefixGroup(key, length, shown) {
  const prefix = key.slice(0, length)
  return { lower: prefix, upper: afterPrefix(prefix), prefix, label: escaped(prefix.subarray(shown)) }
}

/** The name of an abstract-level sublevel whose keys begin with `prefix`; undefined if it is none. */
export function sublevelName(prefix) {
  const names = /^(?:![^!]+!)+$/.exec(textOf(prefix) ?? '')
  return names?.[0].match(/[^!]+/g).join(' › ')
}

export const plain = {
  id: 'plain',
  title: 'Keys in bytewise order',

  recognises: () => true,

  /**
   * How the keys of a node are grouped.
   *
   * @param node - The group itself: `prefix`.
   * @param first - Its first key; all of its keys are between this and `last`.
   */
  grouping(node, first, last) {
    const start = node.prefix?.length ?? 0
    // What all keys have in common says nothing, up to the last part that is whole.
    const common = commonLength(first, last)
    let from = start
    for (let end = partEnd(first, from); end !== undefined && end <= common; end = partEnd(first, from)) {
      from = end
    }
    return {
      groupOf(key) {
        const end = partEnd(key, from)
        if (end === undefined) return undefined
        const group = prefixGroup(key, end, start)
        const sublevel = key[from] === MARK ? sublevelName(group.prefix.subarray(from)) : undefined
        return sublevel === undefined ? group : { ...group, label: sublevel, kind: 'sublevel' }
      },
      // Many keys without a separator: those that begin with the same character.
      bucketOf(key) {
        // The key that is only what all have in common is in none.
        if (key.length <= common) return undefined
        const length = Math.min(common + characterLength(key, common), key.length)
        return { ...prefixGroup(key, length, start), isBucket: true, shown: start }
      }
    }
  },

  describe: () => undefined,
  decode: () => undefined
}
