/** A cursor that waits until it can be made. */

import type { DirectCursor, DirectData } from 'terrace-core'

/** What an iterator uses of a cursor. */
export type AnyCursor = Pick<DirectCursor, 'key' | 'value' | 'take' | 'next' | 'seek' | 'close'>

export class WaitingCursor implements AnyCursor {
  readonly #making: Promise<DirectCursor>
  #made: DirectCursor | undefined
  #target: DirectData | undefined

  constructor(making: Promise<DirectCursor>) {
    this.#making = making.then((cursor) => {
      this.#made = cursor
      if (this.#target !== undefined) cursor.seek(this.#target)
      return cursor
    })
    // An error belongs to the calls that wait for the cursor.
    this.#making.catch(() => {})
  }

  get key(): DirectData | undefined {
    return this.#made?.key
  }

  get value(): DirectData | undefined {
    return this.#made?.value
  }

  take(): true | undefined {
    return this.#made?.take()
  }

  next(): true | undefined | Promise<true | undefined> {
    return this.#made === undefined ? this.#making.then((cursor) => cursor.next()) : this.#made.next()
  }

  seek(target: DirectData): void {
    if (this.#made === undefined) this.#target = target
    else this.#made.seek(target)
  }

  close(): void | Promise<void> {
    if (this.#made !== undefined) return this.#made.close()
    return this.#making.then(
      (cursor) => cursor.close(),
      () => {}
    )
  }
}
