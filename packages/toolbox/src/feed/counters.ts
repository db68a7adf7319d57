/** The stored numbers of a count, and how far the existing entries are counted. */

import { Buffer } from '../buffer.js'
import { type EncodedRange, rawEncodings } from '../key-space.js'
import type { AnyLevel } from '../level-like.js'
import type { AuxiliaryStore } from './auxiliary-store.js'
import { feedError } from './errors.js'
import { numberAt, numberBytes } from './numbers.js'
import { rangeOfPrefix } from './range.js'

const GROUPS = Buffer.from('g')
const AFTER_GROUPS = Buffer.from('h')
const STATE = Buffer.from('s')
/** A key that is never written: deleting it makes a hook run. */
const MARKER = Buffer.from('x')

/** How far the existing entries are counted. */
export type CountState =
  /** Outdated numbers of an earlier version may be left. */
  | { phase: 'unclean' }
  /** Entries up to `through` are counted; none if it is missing. */
  | { phase: 'counting'; through?: Buffer }
  | { phase: 'done' }

const phases = ['unclean', 'counting', 'done'] as const

/** The numbers of a count. */
export class Counters {
  readonly #store: AuxiliaryStore
  readonly #root: AnyLevel
  readonly #version: string

  constructor(store: AuxiliaryStore, root: AnyLevel, version: string) {
    this.#store = store
    this.#root = root
    this.#version = version
  }

  /** The key of a group's number. */
  keyOf(group: string): Buffer {
    return Buffer.concat([GROUPS, Buffer.from(group)])
  }

  get stateKey(): Buffer {
    return STATE
  }

  get markerKey(): Buffer {
    return MARKER
  }

  /** The state as it is stored now; see {@link AuxiliaryStore.get}. The state of another version is ignored. */
  stateNow(): CountState {
    return this.#stateOf(this.#store.get(STATE))
  }

  /** The same, outside hooks. */
  async readState(): Promise<CountState> {
    return this.#stateOf(await this.#store.read(STATE))
  }

  #stateOf(bytes: Buffer | undefined): CountState {
    if (bytes === undefined) return { phase: 'unclean' }

    const length = bytes.length < 6 ? bytes.length : bytes.readUInt32BE(2)
    const phase = phases[bytes[0] as number]
    if (phase === undefined || bytes.length < 6 + length) throw damaged('state')
    if (bytes.toString('utf8', 6, 6 + length) !== this.#version) return { phase: 'unclean' }
    if (phase !== 'counting') return { phase }
    return bytes[1] === 0 ? { phase } : { phase, through: bytes.subarray(6 + length) }
  }

  /** The stored form of a state. */
  encodeState(state: CountState): Buffer {
    const through = state.phase === 'counting' ? state.through : undefined
    const version = Buffer.from(this.#version)
    const head = Buffer.from([phases.indexOf(state.phase), through === undefined ? 0 : 1, 0, 0, 0, 0])
    head.writeUInt32BE(version.length, 2)
    return Buffer.concat([head, version, through ?? Buffer.alloc(0)])
  }

  /** The stored number of a group. */
  async read(group: string): Promise<number> {
    const bytes = await this.#root.get(this.#store.inRoot(this.keyOf(group)), rawEncodings)
    return countOf(bytes as Buffer | undefined)
  }

  /** The groups and their numbers, in the order of the groups' bytes. */
  async *entries(prefix = '', more?: object): AsyncGenerator<[string, number]> {
    const options = this.#store.iteratorOptions(this.#rangeOf(prefix), more)
    for await (const [key, value] of this.#root.iterator(options)) {
      const group = this.#store.fromRoot(key as unknown as Buffer).toString('utf8', GROUPS.length)
      yield [group, countOf(value as unknown as Buffer)]
    }
  }

  /** Operations on the root that remove up to `limit` numbers. */
  async removals(limit: number): Promise<object[]> {
    const options = this.#store.iteratorOptions(this.#rangeOf(''), { limit })
    const keys = await this.#root.keys(options).all()
    return keys.map((key) => ({ type: 'del', key }))
  }

  /** The operation on the root that stores a state. */
  stateOperation(state: CountState): object {
    return { type: 'put', key: this.#store.inRoot(STATE), value: this.encodeState(state) }
  }

  /** The operation that makes the hook of the store run. */
  markerOperation(): object {
    return this.#store.deletion(MARKER)
  }

  #rangeOf(prefix: string): EncodedRange & { gte: Buffer; lt: Buffer } {
    return { lt: AFTER_GROUPS, ...rangeOfPrefix(this.keyOf(prefix)) } as { gte: Buffer; lt: Buffer }
  }
}

/** The number that bytes stand for; 0 if there are none. */
export function countOf(bytes: Buffer | null | undefined): number {
  if (bytes == null) return 0
  if (bytes.length !== 8) throw damaged('number')
  return numberAt(bytes, 0)
}

/** The bytes of a number; null for 0, which is not stored. */
export function countBytes(count: number): Buffer | null {
  return count <= 0 ? null : numberBytes(count)
}

function damaged(what: string): Error {
  return feedError('FEED_DAMAGED', `The ${what} of a count is damaged`)
}
