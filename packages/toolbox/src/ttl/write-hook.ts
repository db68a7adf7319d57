import { Buffer } from '../buffer.js'
import { bytesOf } from '../encoded.js'
import { codedError } from '../errors.js'
import {
  addHook,
  deleteHook,
  isExact,
  nowhere,
  type Operation,
  type PrewriteHook,
  prefixOf,
  readsInHooks
} from '../hooks.js'
import type { AnyLevel } from '../level-like.js'
import type { Clock } from './clock.js'
import type { Due, ExpiryRecords } from './expiry-records.js'
import { assertTtl } from './options.js'

/** A removal found that its entry had been written meanwhile. */
export const REWRITTEN = 'TTL_REWRITTEN'

/** An operation with the option of entries that expire. */
interface ExpiringOperation extends Operation {
  ttlMs?: unknown
  removedExpiry?: number | undefined
}

/** The deletion of an entry because it expired. */
export interface Removal {
  type: 'del'
  key: Uint8Array
  keyEncoding: 'view'
  /** When the entry expired. If it no longer expires then, the hook fails the batch with {@link REWRITTEN}. */
  removedExpiry: number
}

/** Makes a removal for a batch. */
export function removalOf({ key, expiry }: Pick<Due, 'key' | 'expiry'>): Removal {
  return { type: 'del', key, keyEncoding: 'view', removedExpiry: expiry }
}

/** The prewrite hook of a database whose entries expire. In the same batch as each write, it stores when the entry expires. */
export class WriteHook {
  readonly #db: AnyLevel
  readonly #records: ExpiryRecords
  readonly #clock: Clock
  readonly #defaultTtlMs: number | undefined
  readonly #prefix: string
  readonly #canRead: boolean
  /** Whether reads within the hook see all earlier writes, including those that are still running. */
  readonly #readsAreExact: boolean

  constructor(db: AnyLevel, records: ExpiryRecords, clock: Clock, defaultTtlMs: number | undefined) {
    this.#db = db
    this.#records = records
    this.#clock = clock
    this.#defaultTtlMs = defaultTtlMs
    this.#prefix = prefixOf(db)
    this.#canRead = readsInHooks(db)
    this.#readsAreExact = isExact(db)
  }

  attach(): void {
    addHook(this.#db, this.#run, (operation) => this.#run(operation, nowhere))
  }

  detach(): void {
    deleteHook(this.#db, this.#run)
  }

  /** Whether deleting an entry removes its line from the list in order of time. */
  get forgetsLines(): boolean {
    return this.#canRead
  }

  readonly #run: PrewriteHook<ExpiringOperation> = (operation, batch) => {
    const key = this.#keyOf(operation)
    if (key === undefined) return

    const previous = this.#canRead ? this.#records.getSync(key, { keyEncoding: 'view' }) : undefined
    const { removedExpiry } = operation
    if (removedExpiry !== undefined && this.#canRead && previous !== removedExpiry) {
      throw codedError(REWRITTEN, 'The entry was written while it was being removed')
    }

    const expiry = operation.type === 'put' ? this.#expiryOf(operation) : undefined
    const isUnchanged = expiry === undefined && previous === undefined && this.#readsAreExact
    if (isUnchanged && this.#records.isOpen) return

    for (const recordOperation of this.#records.set(key, expiry, previous)) batch.add(recordOperation)
  }

  /** The operation's key within the database; undefined if it is not on one of the entries. */
  #keyOf({ key, keyEncoding, sublevel }: ExpiringOperation): Uint8Array | undefined {
    const bytes = bytesOf(keyEncoding.encode(key))
    const prefix = sublevel == null ? this.#prefix : prefixOf(sublevel)
    if (!prefix.startsWith(this.#prefix)) return undefined

    const relative = prefix.slice(this.#prefix.length)
    const prefixed = relative === '' ? bytes : Buffer.concat([Buffer.from(relative), bytes])
    return this.#records.contain(prefixed) ? undefined : prefixed
  }

  #expiryOf({ ttlMs }: ExpiringOperation): number | undefined {
    const life = ttlMs === undefined ? this.#defaultTtlMs : ttlMs
    if (life === undefined) return undefined

    assertTtl(life)
    return this.#clock.expiryAfter(life)
  }
}
