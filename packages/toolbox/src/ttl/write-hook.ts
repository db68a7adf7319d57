import { bytesOf } from '../encoded.js'
import { codedError } from '../errors.js'
import { addHook, deleteHook, isExact, type Operation, type PrewriteHook, prefixOf } from '../hooks.js'
import type { AnyLevel } from '../level-like.js'
import type { Clock } from './clock.js'
import { type ExpiryRecords, textOf } from './expiry-records.js'
import { assertTtl } from './options.js'

/** A removal found that its entry was written meanwhile. */
export const REWRITTEN = 'TTL_REWRITTEN'

/** An operation with the option of entries that expire. */
interface ExpiringOperation extends Operation {
  ttlMs?: unknown
}

/**
 * The prewrite hook of a database whose entries expire: with each write goes what says when the entry expires, in the
 * same batch.
 */
export class WriteHook {
  readonly #db: AnyLevel
  readonly #records: ExpiryRecords
  readonly #clock: Clock
  readonly #defaultTtlMs: number | undefined
  readonly #prefix: string
  readonly #canReadSync: boolean
  /** Whether what is read within the hook is as of all writes before, also those that are under way. */
  readonly #readsAreExact: boolean
  /** What is being removed, by key as text: when it expired. */
  #removing: ReadonlyMap<string, number> | undefined

  constructor(db: AnyLevel, records: ExpiryRecords, clock: Clock, defaultTtlMs: number | undefined) {
    this.#db = db
    this.#records = records
    this.#clock = clock
    this.#defaultTtlMs = defaultTtlMs
    this.#prefix = prefixOf(db)
    this.#canReadSync = canReadSync(db)
    this.#readsAreExact = isExact(db)
  }

  attach(): void {
    addHook(this.#db, this.#run)
  }

  detach(): void {
    deleteHook(this.#db, this.#run)
  }

  /** Whether deleting an entry removes its line from the list in order of time. */
  get forgetsLines(): boolean {
    return this.#canReadSync
  }

  /** Whether a removal is being written, within its call. */
  get isRemoving(): boolean {
    return this.#removing !== undefined
  }

  /**
   * Calls `write`, whose deletions are removals: one of a key that does not expire when `removing` says fails the write
   * with {@link REWRITTEN}.
   */
  removing(removing: ReadonlyMap<string, number>, write: () => Promise<void>): Promise<void> {
    this.#removing = removing
    try {
      return write()
    } finally {
      this.#removing = undefined
    }
  }

  readonly #run: PrewriteHook<ExpiringOperation> = (operation, batch) => {
    const key = this.#keyOf(operation)
    if (key === undefined) return

    const previous = this.#canReadSync ? this.#records.getSync(key, { keyEncoding: 'view' }) : undefined
    const removedExpiry = this.#removing?.get(textOf(key))
    if (removedExpiry !== undefined && this.#canReadSync && previous !== removedExpiry) {
      throw codedError(REWRITTEN, 'The entry was written while it was to be removed')
    }

    const expiry = operation.type === 'put' ? this.#expiryOf(operation) : undefined
    const isUnchanged = expiry === undefined && previous === undefined && this.#readsAreExact
    if (isUnchanged && this.#records.isOpen) return

    for (const sideOperation of this.#records.set(key, expiry, previous)) batch.add(sideOperation)
  }

  /** The operation's key within the database; undefined if it is none of its entries. */
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

function canReadSync(db: AnyLevel): boolean {
  // The types of abstract-level lack it.
  return (db.supports as { getSync?: boolean }).getSync === true
}
