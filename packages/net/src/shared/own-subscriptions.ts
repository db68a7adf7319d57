/** The owner's own subscriptions, which need no connection. This takes the place of a session. */

import type { Resource } from '../client/link.js'
import type { NetCall } from '../client/net-call.js'
import type { Publisher } from '../client/subscription.js'
import type { Message } from '../protocol/frame.js'
import { Ask, type NoticeMessage, readRequest, requests, Tell } from '../protocol/messages.js'
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

  async ask(_fate: 'with state', { message }: NetCall<unknown, 'subscribe' | 'unsubscribe'>): Promise<void> {
    // `handles.remove()` has already removed the subscription.
    if (message[0] !== Ask.subscribe) return
    const [handle, , range] = readRequest(requests.subscribe, message)
    const open = this.#open.get(handle)
    if (open === undefined) return

    const source = writesWithin(this.#writes, [intervalOf(range)])
    const outlet = { hasRoom: () => true, send: (event: Message) => deliver(event, open.resource) }
    open.subscription = new Subscription(handle, source, outlet, {
      maxKeptBytes: defaultLimits.unsentEventBytes,
      // Unlimited: this memory belongs to the program itself.
      budget: new Budget(Number.POSITIVE_INFINITY),
      ownBytes: 0
    })
    open.subscription.begin()
  }

  notify(message: NoticeMessage): void {
    if (message[0] !== Ask.credit) return
    const [, handle, event] = message
    this.#open.get(handle)?.subscription?.credit(event)
  }
}

function deliver(message: Message, resource: Resource): void {
  if (message[0] === Tell.event) resource.event?.(message)
  else resource.ended?.(message)
}
