/** A promise and what settles it. Whoever asks for the promise learns of a failure; if nobody does, it is no error. */
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
