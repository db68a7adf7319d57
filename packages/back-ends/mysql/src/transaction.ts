/** The statements of one write transaction, in packets that the server takes. */

import type { Prepared } from './connection.js'
import type { ServerSettings } from './dialect.js'
import { mysqlError } from './errors.js'
import { type Binary, bufferOf, literal } from './literals.js'
import type { Tables } from './tables.js'

/** What becomes of keys: the last value of each, or null if it is deleted. */
export type Changes = ReadonlyMap<Binary, Binary | null>

/** What is sent at once. */
export type Packet = string | Prepared

/** What a packet needs beside its statements or its value, in bytes. */
const PACKET_OVERHEAD_BYTES = 8192
const STATEMENT_BYTES = 1024 * 1024
/** Longer lists take MariaDB to another plan. */
const KEYS_OF_DELETE = 500
/** Larger values travel apart from their statement, where they need no escape. A packet takes four of them. */
const PREPARED_BYTES = 256 * 1024

/** The largest value, in bytes, that a server takes in a packet. */
export function maxValueBytes({ maxPacketBytes }: ServerSettings): number {
  return maxPacketBytes - PACKET_OVERHEAD_BYTES
}

/** @throws LEVEL_VALUE_TOO_LARGE */
export function checkValueSize(sizeBytes: number, settings: ServerSettings): void {
  if (sizeBytes <= maxValueBytes(settings)) return
  throw mysqlError(
    'LEVEL_VALUE_TOO_LARGE',
    `The value has ${sizeBytes} bytes; the server takes at most ${maxValueBytes(settings)} (its max_allowed_packet less ${PACKET_OVERHEAD_BYTES})`
  )
}

/**
 * The packets that write changes of database `n`. The keys are in order, so that two writers of the same keys rarely wait for each
 * other crosswise.
 *
 * @throws LEVEL_VALUE_TOO_LARGE
 */
export function packetsOf(changes: Changes, tables: Tables, n: number, settings: ServerSettings): Packet[] {
  const packets = new Packets(settings)
  const insert = `INSERT INTO ${tables.data} (n,k,v) VALUES `
  const update = ' ON DUPLICATE KEY UPDATE v=VALUES(v)'
  const preparedBytes = Math.min(PREPARED_BYTES, settings.maxPacketBytes / 4)
  const keys = changes.size > 1 ? [...changes.keys()].sort() : [...changes.keys()]
  const rows = new List(packets, insert, update, Infinity)
  const deletions = new List(
    packets,
    `DELETE FROM ${tables.data} WHERE n=${n} AND k IN (`,
    ')',
    KEYS_OF_DELETE
  )

  for (const key of keys) {
    const value = changes.get(key) as Binary | null
    if (value === null) {
      deletions.add(literal(key))
      continue
    }
    checkValueSize(value.length, settings)
    if (value.length < preparedBytes) rows.add(`(${n},${literal(key)},${literal(value)})`)
    else packets.add({ sql: `${insert}(?,?,?)${update}`, values: [n, bufferOf(key), bufferOf(value)] })
  }
  rows.flush()
  deletions.flush()
  return packets.all()
}

/** Elements of a statement of a bounded size. */
class List {
  readonly #packets: Packets
  readonly #begin: string
  readonly #end: string
  readonly #maxCount: number
  #elements: string[] = []
  #bytes = 0

  constructor(packets: Packets, begin: string, end: string, maxCount: number) {
    this.#packets = packets
    this.#begin = begin
    this.#end = end
    this.#maxCount = maxCount
  }

  add(element: string): void {
    const isFull =
      this.#bytes + element.length > this.#packets.statementBytes || this.#elements.length >= this.#maxCount
    if (isFull) this.flush()
    this.#elements.push(element)
    this.#bytes += element.length + 1
  }

  flush(): void {
    if (this.#elements.length === 0) return
    this.#packets.add(this.#begin + this.#elements.join(',') + this.#end)
    this.#elements = []
    this.#bytes = 0
  }
}

/** Statements, as many in a packet as it takes. */
class Packets {
  readonly statementBytes: number
  readonly #packets: Packet[] = []
  readonly #isAlone: boolean
  #current = ''

  constructor({ maxPacketBytes, isClustered }: ServerSettings) {
    // As committer.ts says of clusters.
    this.#isAlone = isClustered
    this.statementBytes = Math.min(STATEMENT_BYTES, Math.floor((maxPacketBytes - PACKET_OVERHEAD_BYTES) / 2))
  }

  add(statement: Packet): void {
    if (typeof statement !== 'string') {
      this.#close()
      this.#packets.push(statement)
      return
    }
    if (this.#current.length + statement.length > 2 * this.statementBytes) this.#close()
    this.#current += this.#current === '' ? statement : `;${statement}`
    if (this.#isAlone) this.#close()
  }

  #close(): void {
    if (this.#current !== '') this.#packets.push(this.#current)
    this.#current = ''
  }

  all(): Packet[] {
    this.#close()
    return this.#packets
  }
}
