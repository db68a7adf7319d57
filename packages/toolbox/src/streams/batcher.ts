/** Collects operations while a batch is being written, so that the next batch has them all. */
export class Batcher {
  readonly #write: (operations: object[]) => Promise<void>
  readonly #batchSize: number
  readonly #onError: (error: unknown) => void
  #waiting: object[] = []
  #writing: Promise<void> | undefined

  /** @param onError - Called when a batch fails. */
  constructor(
    write: (operations: object[]) => Promise<void>,
    batchSize: number,
    onError: (error: unknown) => void
  ) {
    this.#write = write
    this.#batchSize = batchSize
    this.#onError = onError
  }

  /** Takes an operation, once there is room for it. */
  async add(operation: object): Promise<void> {
    while (this.#waiting.length >= this.#batchSize) await this.#writing
    this.#waiting.push(operation)
    if (this.#writing === undefined) this.#begin()
  }

  /** Waits until everything taken so far is written. */
  async flush(): Promise<void> {
    await this.#writing
  }

  /** Drops the operations whose writing has not begun, and waits for the others. */
  async discard(): Promise<void> {
    this.#waiting = []
    await this.#writing?.catch(() => {})
  }

  #begin(): void {
    this.#writing = this.#writeAll()
    this.#writing.catch((error) => this.#onError(error))
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const operations = this.#waiting
      this.#waiting = []
      await this.#write(operations)
    }
    this.#writing = undefined
  }
}
