import { browserError } from '../errors.js'
import { GREETING } from './channel/greeting.js'

/** A dedicated worker that runs the script of this package. */
export type WorkerHandle = Pick<Worker, 'postMessage' | 'terminate' | 'onmessage'> & {
  /** Called once if the worker cannot be started, or runs another script. */
  onFailure: ((error: Error) => void) | null
}

/** How long the script may take to arrive and to start. Long enough for a slow connection. */
export const START_MS = 30_000

/** Timers, which a test replaces. */
export type Timers = Pick<typeof globalThis, 'setTimeout' | 'clearTimeout'>

/** Starts the worker. Bundlers recognise this form, and bring the script along. */
export const startWorker = (): WorkerHandle =>
  new GreetedWorker(
    () => new Worker(new URL('./terrace-worker.js', import.meta.url), { type: 'module' }),
    globalThis
  )

/** A worker whose script must greet before a deadline. A site may have put another script in its place, which never answers. */
export class GreetedWorker implements WorkerHandle {
  onmessage: Worker['onmessage'] = null
  readonly #worker: Worker
  readonly #timers: Timers
  readonly #deadline: ReturnType<typeof setTimeout>
  #failure: Error | undefined
  #onFailure: WorkerHandle['onFailure'] = null

  /** @throws LEVEL_NOT_SUPPORTED if the browser refuses to start a worker. */
  constructor(start: () => Worker, timers: Timers) {
    this.#worker = started(start)
    this.#timers = timers
    this.#worker.onmessage = ({ data }) => {
      if (data === GREETING) this.#begin()
      else this.#fail(otherScript('sends messages of another program'))
    }
    this.#worker.onerror = (event) => this.#fail(cannotStart(event))
    this.#deadline = timers.setTimeout(() => this.#fail(otherScript('has not answered')), START_MS)
  }

  get onFailure(): WorkerHandle['onFailure'] {
    return this.#onFailure
  }

  /** Called at once if the worker has failed already, as one may that was started ahead of time. */
  set onFailure(callback: WorkerHandle['onFailure']) {
    this.#onFailure = callback
    if (this.#failure !== undefined) callback?.(this.#failure)
  }

  postMessage(message: unknown, options: Transferable[] | StructuredSerializeOptions = []): void {
    this.#worker.postMessage(message, options as Transferable[])
  }

  terminate(): void {
    this.#timers.clearTimeout(this.#deadline)
    this.#worker.onmessage = this.#worker.onerror = null
    this.#worker.terminate()
  }

  #begin(): void {
    this.#timers.clearTimeout(this.#deadline)
    // What happens in the worker later does not end it.
    this.#worker.onerror = null
    this.#worker.onmessage = (event) => this.onmessage?.call(this.#worker, event)
  }

  #fail(error: Error): void {
    this.terminate()
    this.#failure = error
    this.#onFailure?.(error)
  }
}

function started(start: () => Worker): Worker {
  try {
    return start()
  } catch (error) {
    throw notStarted(`: ${error}`, error)
  }
}

function cannotStart({ message, filename }: ErrorEvent): Error {
  return notStarted(message ? `: ${message} (${filename})` : ': its script cannot be loaded')
}

function otherScript(what: string): Error {
  return notStarted(`: the script that the site serves as terrace-worker.js ${what}`)
}

const REMEDY =
  'Serve terrace-worker.js of this version of the package beside the script that uses it, as JavaScript and from the same origin; ' +
  "a Content Security Policy needs worker-src 'self', and one with require-trusted-types-for a policy named default that passes this URL"

function notStarted(reason: string, cause?: unknown): Error {
  return browserError(
    'LEVEL_NOT_SUPPORTED',
    `The worker of the database cannot be started${reason}. ${REMEDY}`,
    cause
  )
}
