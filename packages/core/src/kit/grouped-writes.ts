/**
 * Groups the writes of a store that takes one at a time, at a high cost each: writes that wait together are committed as one group.
 */

import { BarrierQueue } from './barrier-queue.js'

/** Defines how writes are combined into groups. */
export interface Grouping<Group> {
  /** The maximum size of a group, in bytes. A larger write forms a group alone. */
  readonly maxBytes: number
  /** Creates an empty group. */
  begin(): Group
  /** Writes a group. While it runs, no other group is written and no barrier runs. */
  commit(group: Group): Promise<unknown>
}

/** A group that takes further writes, and its outcome. */
interface Open<Group> {
  readonly group: Group
  readonly written: Promise<void>
  sizeBytes: number
}

/** Combines writes that wait together, so that the store commits them as one group. */
export class GroupedWrites<Group> extends BarrierQueue {
  readonly #grouping: Grouping<Group>
  #open: Open<Group> | undefined

  constructor(grouping: Grouping<Group>) {
    super()
    this.#grouping = grouping
  }

  /**
   * Adds a write to the last waiting group, or to a new one. Calls in the same turn share a group.
   *
   * @param sizeBytes - The approximate size of the write.
   * @param put - Adds the write to the group, within this call.
   * @returns A promise that settles as the commit of the group does.
   */
  add(sizeBytes: number, put: (group: Group) => void): Promise<void> {
    const open = this.#open
    if (open !== undefined && open.sizeBytes + sizeBytes <= this.#grouping.maxBytes) {
      put(open.group)
      open.sizeBytes += sizeBytes
      return open.written
    }

    const group = this.#grouping.begin()
    put(group)
    const written = super.barrier(() => this.#write(group))
    this.#open = { group, written, sizeBytes }
    return written
  }

  async #write(group: Group): Promise<void> {
    // Calls of this turn are still to come.
    await undefined
    if (this.#open?.group === group) this.#open = undefined
    await this.#grouping.commit(group)
  }

  override run<T>(work: () => T | Promise<T>): Promise<T> {
    this.#open = undefined
    return super.run(work)
  }

  override barrier<T>(work: () => T | Promise<T>): Promise<T> {
    this.#open = undefined
    return super.barrier(work)
  }

  override holdUntil(promise: Promise<unknown>): void {
    this.#open = undefined
    super.holdUntil(promise)
  }
}
