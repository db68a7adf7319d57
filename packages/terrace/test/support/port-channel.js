/** A channel over a port of `node:worker_threads`, which counts its messages. */
export class PortChannel {
  onMessage = () => {}
  onLost = () => {}
  sent = 0
  #port

  constructor(port) {
    this.#port = port
    port.on('message', (message) => this.onMessage(message))
  }

  send(message, transfer) {
    this.sent++
    this.#port.postMessage(message, transfer)
  }

  close() {}
}
