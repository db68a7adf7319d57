/** The events of a root database, with one shared listener for each event. */

import type { AnyLevel } from '../level-like.js'

type EventName = 'open' | 'closing' | 'closed' | 'write' | 'clear'
type Listener = (data: unknown) => void

const known = new WeakMap<AnyLevel, RootEvents>()

/** Shares one listener per event, so that many feeds do not make Node warn of a leak. */
class RootEvents {
  readonly #root: AnyLevel
  readonly #listeners = new Map<EventName, Set<Listener>>()
  readonly #dispatchers = new Map<EventName, Listener>()

  constructor(root: AnyLevel) {
    this.#root = root
  }

  add(name: EventName, listener: Listener): void {
    const listeners = this.#listeners.get(name) ?? new Set()
    if (listeners.size === 0) this.#listen(name, listeners)
    listeners.add(listener)
  }

  delete(name: EventName, listener: Listener): void {
    const listeners = this.#listeners.get(name)
    if (listeners?.delete(listener) !== true || listeners.size > 0) return
    this.#root.off(name, this.#dispatchers.get(name) as Listener)
  }

  #listen(name: EventName, listeners: Set<Listener>): void {
    const dispatch = (data: unknown) => {
      for (const listener of [...listeners]) listener(data)
    }
    this.#listeners.set(name, listeners)
    this.#dispatchers.set(name, dispatch)
    this.#root.on(name, dispatch)
  }
}

/** Listens to an event of a root database, until the returned function is called. */
export function listen(root: AnyLevel, name: EventName, listener: Listener): () => void {
  let events = known.get(root)
  if (events === undefined) {
    events = new RootEvents(root)
    known.set(root, events)
  }

  events.add(name, listener)
  return () => events.delete(name, listener)
}
