import type { AbstractKeyIterator, AbstractLevel } from 'abstract-level'
import { asideOf } from '../aside.js'
import { byteString, type Encoded } from '../encoded.js'
import { parentOf, prefixOf } from '../hooks.js'
import type { AnyLevel } from '../level-like.js'

/** An operation for a batch of the database or of one of its sublevels. */
export interface SideOperation {
  type: 'put' | 'del'
  sublevel: unknown
  key: Uint8Array
  value?: string
  keyEncoding: 'view'
  valueEncoding: 'utf8'
}

/** One line of the list in order of time. */
export interface Due {
  expiry: number
  key: Uint8Array
  /** The line itself, as a key. */
  line: Uint8Array
}

/** A range of keys as private methods get it, encoded. */
export interface RecordRange {
  gt?: Encoded | undefined
  gte?: Encoded | undefined
  lt?: Encoded | undefined
  lte?: Encoded | undefined
  keyEncoding?: string | undefined
  snapshot?: unknown
}

type RecordStore = AbstractLevel<unknown, Uint8Array, string>

/** Digits of 2^53 - 1. Text, so that it keeps its order in databases that store text. */
const EXPIRY_DIGITS = 16

/** The digit 0 in ASCII. */
const ZERO = 0x30

/** What prefixes of sublevels begin with. */
const SEPARATOR = 0x21

const textEncoder = new TextEncoder()
const textDecoder = new TextDecoder()

/**
 * Where expiries are kept: beside the entries, which stay as they are. `byKey` has when a key expires, and decides.
 * `byTime` has the same in order of time, so that looking for what expired costs by what expired; it may also have lines
 * that do not count any more.
 */
export class ExpiryRecords {
  readonly #aside: AnyLevel
  readonly #byKey: RecordStore
  readonly #byTime: RecordStore
  /** What all keys of these records begin with, if they are within the database itself. */
  readonly #prefixWithin: string | undefined

  constructor(db: AnyLevel) {
    this.#aside = asideOf(db, 'ttl')
    this.#prefixWithin = parentOf(this.#aside) === db ? prefixOf(this.#aside) : undefined
    const encodings = { keyEncoding: 'view', valueEncoding: 'utf8' } as const
    this.#byKey = this.#aside.sublevel('key', encodings) as unknown as RecordStore
    this.#byTime = this.#aside.sublevel('time', encodings) as unknown as RecordStore
  }

  /** Whether a key of the database is one of these records. They are within it only where it is no sublevel. */
  contain(key: Encoded): boolean {
    if (this.#prefixWithin === undefined) return false
    if (typeof key === 'string') return key.startsWith(this.#prefixWithin)
    return (
      key[0] === SEPARATOR &&
      textDecoder.decode(key.subarray(0, this.#prefixWithin.length)) === this.#prefixWithin
    )
  }

  /** What the keys of `byKey` begin with in the root; the rest is the key. */
  get prefix(): string {
    return prefixOf(this.#byKey)
  }

  get isOpen(): boolean {
    return this.#byKey.status === 'open'
  }

  async open(): Promise<void> {
    await this.#aside.open()
    await Promise.all([this.#byKey.open(), this.#byTime.open()])
  }

  /** Closes them, so that they do not stay attached to the database. */
  async close(): Promise<void> {
    await Promise.all([this.#byKey.close(), this.#byTime.close()])
    await this.#aside.close()
  }

  /** When a key expires; undefined if it does not. */
  async get(key: Encoded, options: object): Promise<number | undefined> {
    return expiryOf(await this.#byKey.get(key as Uint8Array, sideOptions(options)))
  }

  /** As {@link get}. Before the records are open it is undefined. */
  getSync(key: Encoded, options: object): number | undefined {
    if (!this.isOpen) return undefined
    return expiryOf(this.#byKey.getSync(key as Uint8Array, sideOptions(options)))
  }

  async getMany(keys: Encoded[], options: object): Promise<Array<number | undefined>> {
    return (await this.#byKey.getMany(keys as Uint8Array[], sideOptions(options))).map(expiryOf)
  }

  /** When keys of a range expire, by {@link textOf} the key. */
  async inRange(range: RecordRange): Promise<Map<string, number>> {
    const bounds: Record<string, unknown> = sideOptions(range)
    for (const name of ['gt', 'gte', 'lt', 'lte'] as const) {
      if (range[name] !== undefined) bounds[name] = range[name]
    }

    const records = await this.#byKey.iterator(bounds as object).all()
    return new Map(records.map(([key, expiry]) => [textOf(key), Number(expiry)]))
  }

  /** Lines up to a time, in order, from behind the line `after`. */
  dueUntil(time: number, after: Uint8Array | undefined): DueLines {
    const range = after === undefined ? {} : { gt: after }
    return new DueLines(this.#byTime.keys({ ...range, lt: lineOf(Math.floor(time) + 1, none) }))
  }

  /** Operations that note when a key expires, where `previous` was noted before. */
  set(key: Uint8Array, expiry: number | undefined, previous: number | undefined): SideOperation[] {
    const operations: SideOperation[] = []
    if (previous !== undefined && previous !== expiry) operations.push(this.forget({ expiry: previous, key }))

    if (expiry === undefined) {
      operations.push(operation('del', this.#byKey, key))
    } else {
      operations.push(operation('put', this.#byKey, key, String(expiry)))
      operations.push(operation('put', this.#byTime, lineOf(expiry, key), ''))
    }

    return operations
  }

  /** An operation that removes a line from the list in order of time. */
  forget({ expiry, key }: Pick<Due, 'expiry' | 'key'>): SideOperation {
    return operation('del', this.#byTime, lineOf(expiry, key))
  }

  /** Writes operations of these records alone. */
  write(operations: SideOperation[]): Promise<void> {
    return this.#aside.batch(operations as never)
  }
}

/** Lines as of one moment: what is removed while they are read need not be passed. */
export class DueLines {
  readonly #lines: AbstractKeyIterator<RecordStore, Uint8Array>

  constructor(lines: AbstractKeyIterator<RecordStore, Uint8Array>) {
    this.#lines = lines
  }

  /** The next ones, at most `limit`; none at the end. */
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
  for (let place = 0; place < EXPIRY_DIGITS; place++) expiry = expiry * 10 + (line[place] as number) - ZERO
  return expiry
}

const none = new Uint8Array(0)

/** A key as text, for a Map: different keys of one format have different texts. */
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
): SideOperation {
  const encodings = { keyEncoding: 'view', valueEncoding: 'utf8' } as const
  return value === undefined
    ? { type, sublevel, key, ...encodings }
    : { type, sublevel, key, value, ...encodings }
}

/** Of the options of a read, those that hold for the records, too: the format of keys and the snapshot. */
function sideOptions(options: object): Record<string, unknown> {
  const { keyEncoding, snapshot } = options as { keyEncoding?: string; snapshot?: unknown }
  return snapshot == null
    ? { keyEncoding, valueEncoding: 'utf8' }
    : { keyEncoding, valueEncoding: 'utf8', snapshot }
}
