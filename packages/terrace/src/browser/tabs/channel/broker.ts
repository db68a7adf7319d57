/**
 * The shared worker that passes ports between tabs. A leader's worker delivers a port for a link; the tab that waits for that link receives it.
 * It knows no leaders, so nothing is lost when it dies with the tab whose process it ran in: the next handshake starts another.
 */

import { whenFree } from './locks.js'
import type { BrokerAnswer, ToBroker } from './messages.js'
import { tabLock } from './names.js'

/** TypeScript declares this only for shared workers. */
interface SharedWorkerScope {
  onconnect: (event: MessageEvent) => void
}

interface Receiver {
  readonly line: MessagePort
  /** Ends when the port has been delivered. */
  readonly delivered: AbortController
}

/** Identifies this instance: tabs and workers that get the same value are connected to the same broker. */
const broker = crypto.randomUUID()
const receivers = new Map<string, Receiver>()

function receive(link: string, tab: string, line: MessagePort): void {
  const delivered = new AbortController()
  receivers.set(link, { line, delivered })
  whenFree(tabLock(tab), delivered.signal, () => receivers.delete(link))
}

/** A port for a tab that is gone is dropped; the leader notices through the tab's lock. */
function deliver(link: string, port: MessagePort): void {
  const receiver = receivers.get(link)
  receivers.delete(link)
  receiver?.delivered.abort()
  if (receiver === undefined) port.close()
  else receiver.line.postMessage(null satisfies BrokerAnswer, [port])
}

const scope = globalThis as unknown as SharedWorkerScope
scope.onconnect = ({ ports }) => {
  const line = ports[0] as MessagePort
  line.onmessage = ({ data, ports }: MessageEvent<ToBroker>) => {
    if (data.kind === 'deliver') {
      deliver(data.link, ports[0] as MessagePort)
      return
    }
    if (data.kind === 'receive') receive(data.link, data.tab, line)
    line.postMessage({ broker } satisfies BrokerAnswer)
  }
}
