/** Which host new connections go to. */

import type { Host } from './target.js'

/** The hosts in order, from the one that served last. A host that has failed comes last. */
export class Hosts {
  readonly #hosts: readonly Host[]
  #current = 0

  constructor(hosts: readonly Host[]) {
    this.#hosts = hosts
  }

  get count(): number {
    return this.#hosts.length
  }

  /** The hosts in the order in which they are to be tried. */
  inOrder(): Host[] {
    return [...this.#hosts.slice(this.#current), ...this.#hosts.slice(0, this.#current)]
  }

  served(host: Host): void {
    this.#current = this.#hosts.indexOf(host)
  }

  /** Puts the next host first, if it was this one. */
  failed(host: Host): void {
    if (this.#hosts[this.#current] === host) this.#current = (this.#current + 1) % this.#hosts.length
  }
}
