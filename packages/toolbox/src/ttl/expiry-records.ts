import type { AbstractKeyIterator, AbstractLevel } from 'abstract-level'
import { auxiliarySublevelOf } from '../auxiliary-sublevel.js'
import { byteString, type Encoded } from '../encoded.js'
import { parentOf, prefixOf } from '../hooks.js'
import type { AnyLevel } from '../level-like.js'

/** An operation for a batch of the database or of one of its sublevels. */
export interface RecordOperation {
  type: 'put' | 'del'
  sublevel: unknown
  key: Uint8Array
  value?: string
  keyEncoding: 'view'
  valueEncoding: 'utf8'
}

/** One line of the list ordered by time. */
export interface Due {
  expiry: number
  key: Uint8Array
  /** The key of the line. */
  line: Uint8Array
}

/** An encoded range of keys, in the form that private methods receive. */
export interface RecordRange {
  gt?: Encoded | undefined
  gte?: Encoded | undefined
  lt?: Encoded | undefined
  lte?: Encoded | undefined
  keyEncoding?: string | undefined
  snapshot?: unknown
}

type RecordStore = AbstractLevel<unknown, Uint8Array, string>

/** The number of digits of 2^53 - 1. Padded text sorts correctly in databases that store text. */
const EXPIRY_DIGITS = 16

/** The digit 0 in ASCII. */
const ZERO = 0x30

/** The first character of sublevels' prefixes. */
const SEPARATOR = 0x21

const textEncoder = new TextEncoder()
const textDecoder = new TextDecoder()

/**
 * The expiries. They are stored next to the entries, which are unchanged. `byKey` maps each key to its expiry, and is
 * authoritative. `byTime` holds the same ordered by time, so that the cost of finding expired entries depends only on their
 * number. It may also contain lines that no longer apply.
 */
export class ExpiryRecords {
  readonly #sublevel: AnyLevel
  readonly #byKey: RecordStore
  readonly #byTime: RecordStore
  /** The prefix of these records' keys, if they are stored within the database itself. */
  readonly #prefixWithin: string | undefined

  constructor(db: AnyLevel) {
    this.#sublevel = auxiliarySublevelOf(db, 'ttl')
    this.#prefixWithin = parentOf(this.#sublevel) === db ? prefixOf(this.#sublevel) : undefined
    const encodings = { keyEncoding: 'view', valueEncoding: 'utf8' } as const
    this.#byKey = this.#sublevel.sublevel('key', encodings) as unknown as RecordStore
    this.#byTime = this.#sublevel.sublevel('time', encodings) as unknown as RecordStore
  }

  /** Whether a key of the database belongs to these records. They are only within the database if it is not a sublevel. */
  contain(key: Encoded): boolean {
    if (this.#prefixWithin === undefined) return false
    if (typeof key === 'string') return key.startsWith(this.#prefixWithin)
    return (
      key[0] === SEPARATOR &&
      textDecoder.decode(key.subarray(0, this.#prefixWithin.length)) === this.#prefixWithin
    )
  }

  /** The prefix of `byKey`'s keys in the root. The entry's key follows it. */
  get prefix(): string {
    return prefixOf(this.#byKey)
  }

  get isOpen(): boolean {
    return this.#byKey.status === 'open'
  }

  async open(): Promise<void> {
    await this.#sublevel.open()
    await Promise.all([this.#byKey.open(), this.#byTime.open()])
  }

  /** Closes the records, so that they do not stay attached to the database. */
  async close(): Promise<void> {
    await Promise.all([this.#byKey.close(), this.#byTime.close()])
    await this.#sublevel.close()
  }

  /** Returns when a key expires; undefined if it does not. */
  async get(key: Encoded, options: object): Promise<number | undefined> {
    return expiryOf(await this.#byKey.get(key as Uint8Array, recordOptions(options)))
  }

  /** Like {@link get}, but synchronous. Before the records are open, it returns undefined. */
  getSync(key: Encoded, options: object): number | undefined {
    if (!this.isOpen) return undefined
    return expiryOf(this.#byKey.getSync(key as Uint8Array, recordOptions(options)))
  }

  async getMany(keys: Encoded[], options: object): Promise<Array<number | undefined>> {
    return (await this.#byKey.getMany(keys as Uint8Array[], recordOptions(options))).map(expiryOf)
  }

  /** Returns when the keys of a range expire, by the {@link textOf} of the key. */
  async inRange(range: RecordRange): Promise<Map<string, number>> {
    const bounds: Record<string, unknown> = recordOptions(range)
    for (const name of ['gt', 'gte', 'lt', 'lte'] as const) {
      if (range[name] !== undefined) bounds[name] = range[name]
    }

    const records = await this.#byKey.iterator(bounds as object).all()
    return new Map(records.map(([key, expiry]) => [textOf(key), Number(expiry)]))
  }

  /** The lines up to a time, in order, after the line `after`. */
  dueUntil(time: number, after: Uint8Array | undefined): DueLines {
    const range = after === undefined ? {} : { gt: after }
    return new DueLines(this.#byTime.keys({ ...range, lt: lineOf(Math.floor(time) + 1, none) }))
  }

  /** The operations that store a key's expiry; `previous` is the one stored so far. */
  set(key: Uint8Array, expiry: number | undefined, previous: number | undefined): RecordOperation[] {
    const operations: RecordOperation[] = []
    if (previous !== undefined && previous !== expiry) operations.push(this.forget({ expiry: previous, key }))

    if (expiry === undefined) {
      operations.push(operation('del', this.#byKey, key))
    } else {
      operations.push(operation('put', this.#byKey, key, String(expiry)))
      operations.push(operation('put', this.#byTime, lineOf(expiry, key), ''))
    }

    return operations
  }

  /** The operation that removes a line from the list ordered by time. */
  forget({ expiry, key }: Pick<Due, 'expiry' | 'key'>): RecordOperation {
    return operation('del', this.#byTime, lineOf(expiry, key))
  }

  /** Writes operations on these records alone. */
  write(operations: RecordOperation[]): Promise<void> {
    return this.#sublevel.batch(operations as never)
  }
}

/** Lines of one state. Lines that are removed meanwhile do not slow it down. */
export class DueLines {
  readonly #lines: AbstractKeyIterator<RecordStore, Uint8Array>

  constructor(lines: AbstractKeyIterator<RecordStore, Uint8Array>) {
    this.#lines = lines
  }

  /** Reads the next lines, at most `limit`; none at the end. */
  async next(limit: number): Promise<Due[]> {
    return (await this.#lines.nextv(limit)).map((line) => ({
      expiry: expiryOfLine(line),
      key: line.subarray(EXPIRY_DIGITS),
      line
    }))
  }

  close(): Promise<void> {
    return this.#lines.close()
  }
}

function expiryOfLine(line: Uint8Array): number {
  let expiry = 0
  for (let digit = 0; digit < EXPIRY_DIGITS; digit++) expiry = expiry * 10 + (line[digit] as number) - ZERO
  return expiry
}

const none = new Uint8Array(0)

/** A key as text, for a Map. Different keys of the same format have different texts. */
export function textOf(key: Encoded): string {
  return typeof key === 'string' ? key : byteString(key)
}

function expiryOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(text)
}

function lineOf(expiry: number, key: Uint8Array): Uint8Array {
  const line = new Uint8Array(EXPIRY_DIGITS + key.byteLength)
  textEncoder.encodeInto(String(expiry).padStart(EXPIRY_DIGITS, '0'), line)
  line.set(key, EXPIRY_DIGITS)
  return line
}

function operation(
  type: 'put' | 'del',
  sublevel: RecordStore,
  key: Uint8Array,
  value?: string
): RecordOperation {
  const encodings = { keyEncoding: 'view', valueEncoding: 'utf8' } as const
  return value === undefined
    ? { type, sublevel, key, ...encodings }
    : { type, sublevel, key, value, ...encodings }
}

/** The options of a read that also apply to the records: the format of keys, and the snapshot. */
function recordOptions(options: object): Record<string, unknown> {
  const { keyEncoding, snapshot } = options as { keyEncoding?: string; snapshot?: unknown }
  return snapshot == null
    ? { keyEncoding, valueEncoding: 'utf8' }
    : { keyEncoding, valueEncoding: 'utf8', snapshot }
}
