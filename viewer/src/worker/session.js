/** The open directory, and what the page asks of it. */

import { BackendLevel } from 'terrace-core'
import { afterPrefix } from '../bytes.js'
import { escaped } from '../escape.js'
import { ASKED_NAMES, layoutOf } from '../layouts/index.js'
import { matcher } from '../matches.js'
import { DirectoryBackend } from './directory-backend.js'
import { LineWriter } from './line-writer.js'
import { bounds, firstKeys, take, walk } from './scan.js'
import { groupsBelow, nameGroups } from './tree.js'

/** Entries from one remembered key of a list to the next. */
export const STRIDE = 100

/** Characters of a value that a list shows. */
const SUMMARY_LENGTH = 160

/** A larger value is not decoded for a list. */
const MOST_DECODED_BYTES = 16 << 10

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

  /** Opens a directory. Returns what the page shows of it. */
  async open(directory) {
    const backend = new DirectoryBackend(directory)
    const db = new BackendLevel(backend, BYTES)
    this.#backend = backend
    this.#db = db
    await db.open()
    this.#layout = layoutOf({ order: backend.order, ...(await sampleOf(db)) })
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

  /** Up to {@link STRIDE} entries of a range from `from` on: keys and what their values begin with. */
  async page({ range, from }) {
    const entries = () => this.#db.iterator({ ...bounds({ ...range, lower: from }), limit: STRIDE })
    return (await take(entries, STRIDE)).map((entry) => this.#row(entry))
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
      task.progress({ entries: kept.map((entry) => this.#row(entry)), seen, found })
    }
    return { seen, found }
  }

  /** Reports the lines of an export, as bytes: of a range, or of what a search finds in it. */
  async export({ range, query }, task) {
    const test = query === undefined ? undefined : matcher(query)
    const writer = new LineWriter()
    let count = 0
    const handOver = () => {
      const bytes = writer.take()
      task.progress({ bytes, count }, [bytes.buffer])
    }
    const narrowed = test === undefined ? range : this.#narrow(range, test)
    for await (const page of walk(this.#db, narrowed, task, { values: true })) {
      for (const [key, value] of page) {
        if (test !== undefined && !test.matches(key, value)) continue
        writer.add(key, value)
        count++
      }
      if (writer.size > CHUNK_BYTES) handOver()
    }
    handOver()
    return { count }
  }

  /** Why the browser refused to read a file, if it did. */
  takeFailure() {
    return this.#backend?.takeFailure()
  }

  /** An entry as a row of a list shows it. */
  #row([key, value]) {
    return { key, summary: this.#summary(key, value), valueBytes: value.length }
  }

  #summary(key, value) {
    // Text can be decoded in part, where it is not cut amid a character.
    const part = value.subarray(0, MOST_DECODED_BYTES)
    const own = this.#layout.decode(key, part) ?? this.#layout.decode(key, part.subarray(0, -1))
    const text =
      own?.text ?? (own === undefined ? escaped(value.subarray(0, SUMMARY_LENGTH)) : JSON.stringify(own.json))
    return text.slice(0, SUMMARY_LENGTH)
  }

  /** The part of a range that can have what begins with a prefix: in bytewise order, they are neighbours. */
  #narrow(range, { prefix }) {
    if (prefix === undefined || this.#layout.id === 'indexeddb') return range
    const after = afterPrefix(prefix)
    return {
      lower: range.lower === undefined || isBelow(range.lower, prefix) ? prefix : range.lower,
      upper:
        after === undefined || (range.upper !== undefined && isBelow(range.upper, after))
          ? range.upper
          : after
    }
  }
}

/** What tells the layout: the first keys, and which of some names exist. What is damaged tells nothing. */
async function sampleOf(db) {
  try {
    const keys = await firstKeys(db, {}, SAMPLE_KEYS)
    const asked = await db.getMany(ASKED_NAMES, { keyEncoding: 'utf8' })
    return { keys, names: ASKED_NAMES.filter((_, index) => asked[index] !== undefined) }
  } catch (error) {
    if (error.code !== 'LEVEL_CORRUPTION') throw error
    return { keys: [], names: [] }
  }
}

/** Whether one key is before another, byte by byte. */
function isBelow(a, b) {
  const at = a.findIndex((byte, index) => byte !== b[index])
  return at < 0 ? a.length < b.length : b[at] !== undefined && a[at] < b[at]
}
