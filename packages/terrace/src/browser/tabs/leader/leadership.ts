import { openBrokerLine } from '../channel/broker-line.js'
import { revive } from '../channel/failure.js'
import type { FromWorker, ToWorker } from '../channel/messages.js'
import { type ChannelMemory, memoryToShare } from '../channel/shared-memory.js'
import type { WorkerHandle } from '../start-worker.js'

interface Leader {
  readonly location: string
  readonly epoch: number
  readonly tab: string
  readonly options: object
}

interface Events {
  /** The worker holds the lock of its epoch, so the end of that is the end of the worker. */
  onLives(): void
  /** The database is open. Comes with the port of this tab's own channel, and with what memory they share. */
  onOpened(port: MessagePort, memory: ChannelMemory | undefined): void
  /** The database could not be opened, or the browser has removed it. */
  onFailed(error: Error): void
}

/** The worker of this tab while it is the leader. */
export class Leadership {
  readonly #worker: WorkerHandle
  readonly #tab: string
  readonly #events: Events
  readonly #ended = new AbortController()
  #onClosed: ((error: Error | undefined) => void) | undefined

  /** Starts to open the database. */
  constructor(worker: WorkerHandle, { location, epoch, tab, options }: Leader, events: Events) {
    this.#worker = worker
    this.#tab = tab
    this.#events = events
    worker.onmessage = ({ data }) => this.#hear(data)
    worker.onFailure = (error) => events.onFailed(error)
    this.#tell({ kind: 'open', location, epoch, options })
  }

  /** Lets the worker answer what it has received, and close the database. Waits for that; it may take as long as it takes. */
  close(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#onClosed = (error) => (error === undefined ? resolve() : reject(error))
      this.#tell({ kind: 'close' })
    })
  }

  /** Ends the worker at once. What it has acknowledged is in its files. */
  terminate(): void {
    this.#ended.abort()
    this.#worker.onmessage = this.#worker.onFailure = null
    this.#worker.terminate()
    this.#onClosed?.(undefined)
  }

  #hear(message: FromWorker): void {
    switch (message.kind) {
      case 'lives':
        this.#events.onLives()
        break
      case 'opened':
        this.#open()
        break
      case 'failed':
        this.#events.onFailed(revive(message.failure))
        break
      case 'line-wanted':
        this.#supplyLine()
        break
      case 'closed':
        this.#onClosed?.(message.failure && revive(message.failure))
    }
  }

  #open(): void {
    const { port1, port2 } = new MessageChannel()
    const memory = memoryToShare()
    this.#tell({ kind: 'own', tab: this.#tab, shared: memory?.shared }, [port2])
    this.#events.onOpened(port1, memory)
  }

  #supplyLine(): void {
    const line = openBrokerLine(() => this.#tell({ kind: 'line' }), this.#ended.signal)
    this.#tell({ kind: 'line' }, line === undefined ? [] : [line])
  }

  #tell(message: ToWorker, transfer: Transferable[] = []): void {
    this.#worker.postMessage(message, transfer)
  }
}
