/**
 * Memory that a page shares with the worker it has started, as browsers allow in pages that are isolated from other origins. It has
 * a box for one message of the page, a box for one of the worker, and counts that show each side what the other did. Counts wrap.
 */

/** Where the counts are, each in a separate cache line. */
const REQUESTS = 0
const PROCESSED = 16
const ANSWERS = 32
const TAKEN = 48
const AWAKE = 64
const SIGNALS = 80
const CONTROL_BYTES = 96 * 4

/** Larger messages go through the port, where they need not be copied. */
const BOX_WORDS = 8192
const BOX_BYTES = 64 << 10

const SIZE_BYTES = CONTROL_BYTES + 2 * (BOX_WORDS * 8 + BOX_BYTES)

/** A message through the port that means only that the page has put a message into its box. */
export const RING = 'ring'

/** The form of all messages: lists of numbers, and bytes. */
export type Lists = ReadonlyArray<readonly number[]>

/** The next number of a count. */
export function after(count: number): number {
  return (count + 1) | 0
}

export class ChannelMemory {
  readonly shared: SharedArrayBuffer
  readonly requestBox: Box
  readonly answerBox: Box
  readonly #control: Int32Array

  /** @param shared - The memory of the other side. By default new memory. */
  constructor(shared = new SharedArrayBuffer(SIZE_BYTES)) {
    this.shared = shared
    this.#control = new Int32Array(shared, 0, CONTROL_BYTES / 4)
    this.requestBox = new Box(shared, CONTROL_BYTES)
    this.answerBox = new Box(shared, CONTROL_BYTES + BOX_WORDS * 8 + BOX_BYTES)
  }

  /** How many messages the page has sent, at the last one that it has put into its box. */
  get requests(): number {
    return Atomics.load(this.#control, REQUESTS)
  }

  /** How many messages the worker has received, whichever way they came. */
  get processed(): number {
    return Atomics.load(this.#control, PROCESSED)
  }

  set processed(count: number) {
    Atomics.store(this.#control, PROCESSED, count)
  }

  /** How many messages the worker has put into its box. */
  get answers(): number {
    return Atomics.load(this.#control, ANSWERS)
  }

  /** How many of them the page has taken. */
  get taken(): number {
    return Atomics.load(this.#control, TAKEN)
  }

  set taken(count: number) {
    Atomics.store(this.#control, TAKEN, count)
  }

  /** Whether the worker checks the page's box without a message through the port. */
  get isAwake(): boolean {
    return Atomics.load(this.#control, AWAKE) === 1
  }

  set isAwake(isAwake: boolean) {
    Atomics.store(this.#control, AWAKE, Number(isAwake))
  }

  /** How often the page has called {@link signal}. */
  get signals(): number {
    return Atomics.load(this.#control, SIGNALS)
  }

  announceRequest(count: number): void {
    Atomics.store(this.#control, REQUESTS, count)
    this.signal()
  }

  announceAnswer(count: number): void {
    Atomics.store(this.#control, ANSWERS, count)
    Atomics.notify(this.#control, ANSWERS)
  }

  /** Wakes a waiting worker, so that it checks the page's box. */
  signal(): void {
    Atomics.add(this.#control, SIGNALS, 1)
    Atomics.notify(this.#control, SIGNALS)
  }

  /** Blocks until the number of signals differs from `signals`. Returns false after a timeout. */
  waitForSignal(signals: number, timeoutMs: number): boolean {
    return Atomics.wait(this.#control, SIGNALS, signals, timeoutMs) !== 'timed-out'
  }

  /** Ends {@link whenAnswered}. */
  releaseWaiter(): void {
    Atomics.notify(this.#control, ANSWERS)
  }

  /**
   * Resolves once the number of answers differs from `answers`, or the waiter is released. Returns whether that took a turn of the
   * event loop.
   */
  async whenAnswered(answers: number): Promise<boolean> {
    const waiting = waitAsync?.(this.#control, ANSWERS, answers)
    await waiting?.value
    return waiting?.async === true
  }
}

/** TypeScript's library lacks it. */
const { waitAsync } = Atomics as unknown as {
  waitAsync?: (
    array: Int32Array,
    index: number,
    value: number
  ) => { async: boolean; value: Promise<string> | string }
}

/** Memory for a page and its worker, unless this page cannot share any. */
export function memoryToShare(): ChannelMemory | undefined {
  const canShare = globalThis.crossOriginIsolated === true && waitAsync !== undefined
  return canShare ? new ChannelMemory() : undefined
}

/** Room for one message. */
export class Box {
  readonly #words: Float64Array
  readonly #bytes: Uint8Array

  constructor(shared: SharedArrayBuffer, at: number) {
    this.#words = new Float64Array(shared, at, BOX_WORDS)
    this.#bytes = new Uint8Array(shared, at + BOX_WORDS * 8, BOX_BYTES)
  }

  /** Stores a message in place of the last one. Returns false if it is too large. */
  store(lists: Lists, bytes: Uint8Array): boolean {
    const needed = lists.reduce((sum, list) => sum + 1 + list.length, 2)
    if (needed > BOX_WORDS || bytes.byteLength > BOX_BYTES) return false
    const words = this.#words
    words[0] = lists.length
    words[1] = bytes.byteLength
    let at = 2
    for (const list of lists) {
      words[at++] = list.length
      for (const word of list) words[at++] = word
    }
    this.#bytes.set(bytes)
    return true
  }

  /** Copies the message. */
  take(): [lists: number[][], bytes: Uint8Array] {
    const words = this.#words
    const lists: number[][] = []
    let at = 2
    for (let left = words[0] as number; left > 0; left--) {
      const end = at + 1 + (words[at] as number)
      lists.push([...words.subarray(at + 1, end)])
      at = end
    }
    return [lists, this.#bytes.slice(0, words[1])]
  }
}
