/** The open folder, and what the page asks of it. */

import { BackendLevel } from 'terrace-core'
import { afterPrefix } from '../bytes.js'
import { jsonLine } from '../escape.js'
import { ASKED_NAMES, layoutOf } from '../layouts/index.js'
import { FolderBackend } from './folder-backend.js'
import { matcher } from '../matches.js'
import { bounds, firstKeys, walk } from './scan.js'
import { groupsBelow, nameGroups } from './tree.js'

/** Entries from one remembered key of a list to the next. */
export const STRIDE = 100

/** Bytes of a value that a list shows. */
const HEAD_BYTES = 160

/** Entries that a search keeps. It counts all. */
const MOST_FOUND = 10_000

/** First keys that tell the layout. */
const SAMPLE_KEYS = 64

/** Bytes of an export that are handed over at once. */
const CHUNK_BYTES = 1 << 20

const BYTES = { keyEncoding: 'view', valueEncoding: 'view' }

export class Session {
  #backend
  #db
  #layout

  /** Opens a folder. Returns what the page shows of it. */
  async open(folder) {
    const backend = new FolderBackend(folder)
    const db = new BackendLevel(backend, BYTES)
    this.#backend = backend
    this.#db = db
    await db.open()
    const keys = await firstKeys(db, {}, SAMPLE_KEYS)
    const asked = await db.getMany(ASKED_NAMES, { keyEncoding: 'utf8' })
    const names = ASKED_NAMES.filter((_, index) => asked[index] !== undefined)
    this.#layout = layoutOf({ order: backend.order, keys, names })
    return { order: backend.order, report: backend.report, layout: this.#layout.id }
  }

  /** The groups below a node. */
  async groups({ node, from }) {
    const found = await groupsBelow(this.#db, this.#layout, node, from)
    await nameGroups(this.#db, this.#layout, found.groups)
    return found
  }

  /** Counts the entries of a range, up to `most`. */
  async count({ range, most }, task) {
    let count = 0
    for await (const page of walk(this.#db, range, task)) {
      count += page.length
      if (count > most) return { count: most, isAll: false }
    }
    return { count, isAll: true }
  }

  /** Reports the key of every {@link STRIDE}th entry of a range, and the number of entries so far. */
  async index({ range }, task) {
    let count = 0
    for await (const page of walk(this.#db, range, task)) {
      const starts = page.filter((_, index) => (count + index) % STRIDE === 0)
      count += page.length
      task.progress({ starts, count })
    }
    return { count }
  }

  /** Up to {@link STRIDE} entries of a range from `from` on: keys and the first bytes of their values. */
  async page({ range, from }) {
    const iterator = this.#db.iterator({ ...bounds({ ...range, lower: from }), limit: STRIDE })
    try {
      const entries = await iterator.nextv(STRIDE)
      return entries.map(([key, value]) => headOf(key, value))
    } finally {
      await iterator.close()
    }
  }

  /** A whole value. */
  async value({ key }) {
    return this.#db.get(key)
  }

  /** Searches a range. Reports the first entries that it finds, and how many entries it has seen. */
  async search({ range, query }, task) {
    const test = matcher(query)
    let [seen, found] = [0, 0]
    for await (const page of walk(this.#db, this.#narrow(range, test), task, { values: true })) {
      const hits = page.filter(([key, value]) => test.matches(key, value))
      const kept = hits.slice(0, Math.max(0, MOST_FOUND - found))
      seen += page.length
      found += hits.length
      task.progress({ entries: kept.map(([key, value]) => headOf(key, value)), seen, found })
    }
    return { seen, found }
  }

  /** Reports the lines of an export, as bytes: of a range, or of what a search finds in it. */
  async export({ range, query }, task) {
    const test = query === undefined ? undefined : matcher(query)
    const encoder = new TextEncoder()
    let [lines, count] = ['', 0]
    const handOver = () => {
      const bytes = encoder.encode(lines)
      lines = ''
      task.progress({ bytes, count }, [bytes.buffer])
    }
    const narrowed = test === undefined ? range : this.#narrow(range, test)
    for await (const page of walk(this.#db, narrowed, task, { values: true })) {
      for (const [key, value] of page) {
        if (test !== undefined && !test.matches(key, value)) continue
        lines += jsonLine(key, value)
        count++
      }
      if (lines.length > CHUNK_BYTES) handOver()
    }
    handOver()
    return { count }
  }

  /** Why the browser refused to read a file, if it did. */
  takeFailure() {
    return this.#backend?.takeFailure()
  }

  /** The part of a range that can have what begins with a prefix: in bytewise order, they are neighbours. */
  #narrow(range, { prefix }) {
    if (prefix === undefined || this.#layout.id === 'indexeddb') return range
    const after = afterPrefix(prefix)
    return {
      lower: range.lower === undefined || isBelow(range.lower, prefix) ? prefix : range.lower,
      upper: after === undefined || (range.upper !== undefined && isBelow(range.upper, after)) ? range.upper : after
    }
  }
}

const headOf = (key, value) => ({ key, head: value.slice(0, HEAD_BYTES), valueBytes: value.length })

/** Whether one key is before another, byte by byte. */
function isBelow(a, b) {
  const at = a.findIndex((byte, index) => byte !== b[index])
  return at < 0 ? a.length < b.length : b[at] !== undefined && a[at] < b[at]
}
