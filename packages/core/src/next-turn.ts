/** The next turn of the event loop, in Node and in browsers. */

/** What is to be done in the next turn. In Node it keeps the process alive, unless that is taken back by `unref()`. */
interface Immediate {
  ref(): unknown
  unref(): unknown
}

/**
 * Does something in the next turn of the event loop, so that timers, sockets and what a page draws have their turns before.
 */
export const inNextTurn: (work: () => void) => Immediate =
  typeof setImmediate === 'function' ? setImmediate : byMessages()

/** A page has no `setImmediate`. A message to itself is a task as well, and unlike a timer it is not held back. */
function byMessages(): (work: () => void) => Immediate {
  const { port1, port2 } = new MessageChannel()
  const waiting: Array<() => void> = []
  Object.assign(port1, { onmessage: () => waiting.shift()?.() })
  const ignored = { ref() {}, unref() {} }
  return (work) => {
    waiting.push(work)
    port2.postMessage(undefined)
    return ignored
  }
}
