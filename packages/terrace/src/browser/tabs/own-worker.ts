import type { Channel } from './channel/channel.js'
import { revive } from './channel/failure.js'
import { Link } from './channel/link.js'
import type { FromOwnWorker, ToOwnWorker } from './channel/messages.js'
import { ownLock } from './channel/names.js'
import { pageChannel } from './channel/page-memory-channel.js'
import { type ChannelMemory, memoryToShare } from './channel/shared-memory.js'
import { startWorker, type WorkerHandle } from './start-worker.js'
import { type WorkerEnd, whenEnded } from './worker-end.js'

export interface OwnWorkerEvents {
  /** The database is open: the first time, and again after each loss. */
  onChannel(channel: Channel): void
  /** The database could not be opened. This is tried again when the page is shown again, not before. */
  onFailure(error: Error): void
}

/**
 * The worker that opens a database for one page. It ends when the page is hidden, since that may be for good, and another starts if
 * the page is shown again.
 */
export class OwnWorker {
  readonly #location: string
  readonly #events: OwnWorkerEvents
  #options: () => object
  readonly #laterOptions: () => object
  #worker: WorkerHandle | undefined
  #link: Link | undefined
  /** Ends with the worker. */
  #ended = new AbortController()
  #isHidden = false
  #onClosed: ((error?: Error) => void) | undefined

  /**
   * Starts to open the database.
   *
   * @param options - For opening it the first time.
   * @param laterOptions - For opening it once it exists.
   */
  constructor(location: string, options: object, laterOptions: () => object, events: OwnWorkerEvents) {
    this.#location = location
    this.#options = () => options
    this.#laterOptions = laterOptions
    this.#events = events
    addEventListener('pagehide', this)
    addEventListener('pageshow', this)
    this.#start()
  }

  /**
   * Answers what the worker has received, and closes the database.
   *
   * @throws What closing the database throws. The worker has ended nevertheless.
   */
  async leave(): Promise<void> {
    removeEventListener('pagehide', this)
    removeEventListener('pageshow', this)
    if (this.#worker === undefined) return
    try {
      await new Promise<void>((resolve, reject) => {
        this.#onClosed = (error) => (error === undefined ? resolve() : reject(error))
        this.#tell({ kind: 'close-own' })
      })
      // The last messages of the worker may arrive after its message that it has closed.
      await this.#link?.ended
    } finally {
      this.#end()
    }
  }

  /** @internal The listener of the page's events. */
  handleEvent({ type }: Event): void {
    if (type === 'pagehide') {
      this.#isHidden = true
      this.#end()
    } else if (this.#isHidden) {
      this.#isHidden = false
      this.#start()
    }
  }

  #start(): void {
    const lock = ownLock(crypto.randomUUID())
    const memory = memoryToShare()
    try {
      const worker = startWorker()
      this.#worker = worker
      worker.onmessage = ({ data, ports }: MessageEvent<FromOwnWorker>) => {
        if (data.kind === 'opened') this.#connect(ports[0] as MessagePort, memory)
        else this.#hear(data, lock)
      }
      worker.onFailure = (error) => this.#fail(error)
      const [location, options] = [this.#location, this.#options()]
      this.#tell({ kind: 'open-own', location, lock, options, shared: memory?.shared })
    } catch (error) {
      this.#fail(error as Error)
    }
  }

  /** The database is open. */
  #connect(port: MessagePort, memory: ChannelMemory | undefined): void {
    this.#options = this.#laterOptions
    const link = new Link(port)
    this.#link = link
    this.#events.onChannel(pageChannel(link, memory))
  }

  #hear(message: FromOwnWorker, lock: string): void {
    switch (message.kind) {
      case 'lives': {
        const { signal } = this.#ended
        void whenEnded(lock, signal).then((end) => {
          if (!signal.aborted) this.#lose(end)
        })
        break
      }
      case 'failed':
        this.#fail(revive(message.failure))
        break
      case 'closed':
        this.#onClosed?.(message.failure && revive(message.failure))
    }
  }

  /** The worker has died. */
  #lose({ error, isFinal }: WorkerEnd): void {
    if (this.#link === undefined || isFinal) {
      this.#fail(error)
      return
    }
    const isClosing = this.#onClosed !== undefined
    this.#end()
    if (!isClosing) this.#start()
  }

  #fail(error: Error): void {
    // Waiting calls fail with this error rather than with the loss of their channel.
    this.#events.onFailure(error)
    this.#end()
  }

  /** Ends the worker at once. What it has acknowledged is in its files. */
  #end(): void {
    this.#ended.abort()
    this.#ended = new AbortController()
    const [worker, link] = [this.#worker, this.#link]
    this.#worker = this.#link = undefined
    if (worker !== undefined) {
      worker.onmessage = worker.onFailure = null
      worker.terminate()
    }
    link?.lose()
    this.#onClosed?.()
  }

  #tell(message: ToOwnWorker): void {
    this.#worker?.postMessage(message)
  }
}
