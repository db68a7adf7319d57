import { describe, type Failure } from '../channel/failure.js'
import { Link } from '../channel/link.js'
import { holdLock } from '../channel/locks.js'
import type { FromOwnWorker, ToOwnWorker } from '../channel/messages.js'
import { workerChannel } from '../channel/worker-memory-channel.js'
import type { Hosted, OpenHosted } from './database-worker.js'
import { whenUnlocked } from './when-unlocked.js'

/** What TypeScript knows only of workers. */
interface WorkerScope {
  postMessage(message: FromOwnWorker, transfer?: Transferable[]): void
}

type OpenOwn = Extract<ToOwnWorker, { readonly kind: 'open-own' }>

/** Makes a dedicated worker open a database for its page alone, when asked. To be called when it starts, before the first await. */
export function serveOwn(openHosted: OpenHosted): void {
  const scope = globalThis as unknown as WorkerScope
  let opening: Promise<Hosted | undefined> = Promise.resolve(undefined)
  let isClosing = false

  async function open({ location, lock, options, shared }: OpenOwn): Promise<Hosted | undefined> {
    try {
      await holdUntilTheEnd(lock)
      scope.postMessage({ kind: 'lives' })
      const hosted = await whenUnlocked(
        () => openHosted(location, options, fail),
        () => isClosing
      )
      const { port1, port2 } = new MessageChannel()
      hosted.host(workerChannel(new Link(port1), shared))
      scope.postMessage({ kind: 'opened' }, [port2])
      return hosted
    } catch (error) {
      fail(error)
      return undefined
    }
  }

  function fail(error: unknown): void {
    scope.postMessage({ kind: 'failed', failure: describe(error) })
  }

  async function close(): Promise<void> {
    isClosing = true
    let failure: Failure | undefined
    try {
      await (await opening)?.close()
    } catch (error) {
      failure = describe(error)
    }
    scope.postMessage({ kind: 'closed', failure })
  }

  addEventListener('message', ({ data }: MessageEvent<ToOwnWorker>) => {
    if (data.kind === 'open-own') opening = open(data)
    if (data.kind === 'close-own') void close()
  })
}

/** Resolves when the lock is held. */
function holdUntilTheEnd(lock: string): Promise<void> {
  return new Promise((resolve, reject) => {
    holdLock(lock, new AbortController().signal, resolve).catch(reject)
  })
}
