/**
 * A promise with the functions that settle it. A failure is not an unhandled rejection, even if the promise is never
 * used.
 */
export class Outcome {
  readonly promise: Promise<void>
  readonly resolve!: () => void
  readonly reject!: (error: unknown) => void

  constructor() {
    this.promise = new Promise((resolve, reject) => {
      Object.assign(this, { resolve, reject })
    })
    this.promise.catch(() => undefined)
  }
}
