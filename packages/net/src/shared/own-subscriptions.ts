/** The subscriptions of the owner itself, which need no connection: what a session is to others. */

import type { Resource } from '../client/link.js'
import type { NetCall } from '../client/net-call.js'
import type { Publisher } from '../client/subscription.js'
import type { Message } from '../protocol/frame.js'
import { Ask, PartReader, Tell } from '../protocol/messages.js'
import { Budget } from '../server/budget.js'
import { intervalOf } from '../server/key-range.js'
import { defaultLimits } from '../server/options.js'
import { Subscription } from '../server/subscription.js'
import { type WriteSource, writesWithin } from '../server/watching.js'

interface Open {
  readonly resource: Resource
  subscription?: Subscription
}

export class OwnSubscriptions implements Publisher {
  readonly isClosed = false
  readonly #writes: WriteSource
  readonly #open = new Map<number, Open>()
  #lastHandle = 0
  readonly handles = {
    add: (resource: Resource): number => {
      this.#open.set(++this.#lastHandle, { resource })
      return this.#lastHandle
    },
    remove: (handle: number): void => {
      this.#open.get(handle)?.subscription?.close()
      this.#open.delete(handle)
    }
  }

  constructor(writes: WriteSource) {
    this.#writes = writes
  }

  async ask(_fate: 'with state', { message }: NetCall): Promise<void> {
    const parts = new PartReader(message)
    parts.number('number')
    const handle = parts.number('handle')
    const open = this.#open.get(handle)
    // Whoever unsubscribes has removed it.
    if (message[0] !== Ask.subscribe || open === undefined) return

    parts.optionalString('feed')
    const source = writesWithin(this.#writes, [intervalOf(parts.range('range'))])
    const outlet = { hasRoom: () => true, send: (event: Message) => deliver(event, open.resource) }
    open.subscription = new Subscription(handle, source, outlet, {
      maxKeptBytes: defaultLimits.unsentEventBytes,
      // The program's own.
      budget: new Budget(Number.POSITIVE_INFINITY),
      ownBytes: 0
    })
    open.subscription.begin()
  }

  notify(_kind: number, ...parts: unknown[]): void {
    const [handle, event] = parts as [number, number]
    this.#open.get(handle)?.subscription?.credit(event)
  }
}

function deliver(message: Message, resource: Resource): void {
  const parts = new PartReader(message)
  parts.number('handle')
  if (message[0] === Tell.event) resource.event?.(parts)
  else resource.ended?.(parts)
}
