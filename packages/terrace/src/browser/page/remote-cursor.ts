/** A cursor of the worker that has the database open. If that is lost, one of the next worker goes on after the last key. */

import { type CursorOptions, type CursorParts, type FarPage, PagedCursor, type TextAt } from 'terrace-core'
import { storeOne } from '../arguments.js'
import { partsFlags } from '../range-flags.js'
import { SHORT_BYTES, Texts } from '../texts.js'
import { Call, NONE } from './calls.js'
import { storeRange } from './range-words.js'
import type { Requests } from './requests.js'
import { numberOf, type WorkerSnapshot } from './worker-snapshot.js'

export class RemoteCursor extends PagedCursor {
  readonly #requests: Requests
  readonly #partsFlags: number
  readonly #snapshot: WorkerSnapshot | undefined
  #number = 0

  constructor(
    requests: Requests,
    options: CursorOptions,
    parts: CursorParts,
    snapshot: WorkerSnapshot | undefined
  ) {
    super(options, parts)
    this.#requests = requests
    this.#partsFlags = partsFlags[parts]
    this.#snapshot = snapshot
    this.begin()
  }

  protected readonly textsOf = (bytes: Uint8Array, averageBytes: number): TextAt => {
    const texts = new Texts(bytes, averageBytes <= SHORT_BYTES)
    return (start, end) => texts.at(start, end)
  }

  protected openThere(range: CursorOptions): void {
    const { bytes } = this.#requests
    const snapshot = numberOf(this.#snapshot)
    this.#number = this.#requests.handles.add(this)
    const at = bytes.end
    const [flags, lowerLength, upperLength] = storeRange(bytes, range, range.reverse)
    const words = [this.#number, snapshot, flags | this.#partsFlags, lowerLength, upperLength]
    this.#requests.tell(Call.cursor, at, words)
  }

  protected readThere(_page: number, size: number, highWaterMarkBytes: number): Promise<FarPage> {
    const words = [this.#number, size, highWaterMarkBytes]
    return this.#requests.ask(Call.read, this.#requests.bytes.end, words, 'with state', pageOf)
  }

  protected seekThere(target: Uint8Array): void {
    const { bytes } = this.#requests
    const at = bytes.end
    bytes.end += storeOne(bytes, target)
    this.#requests.tell(Call.seek, at, [this.#number, target.byteLength])
  }

  protected closeThere(): void {
    this.#requests.handles.remove(this.#number)
    this.#requests.tell(Call.closeCursor, this.#requests.bytes.end, [this.#number])
  }

  protected mayGoOnAfter(error: unknown): boolean {
    return (error as { code?: string }).code === 'LEVEL_LEADER_LOST' && this.#snapshot === undefined
  }
}

function pageOf([isLast, lastLength, ...lengths]: readonly number[], bytes: Uint8Array): FarPage {
  const end = bytes.byteLength - Math.max(lastLength as number, 0)
  return {
    isLast: isLast === 1,
    bytes: bytes.subarray(0, end),
    lengths,
    last: lastLength === NONE ? null : bytes.slice(end)
  }
}
