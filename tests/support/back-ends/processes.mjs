// Other processes that use a database, and tell in lines what they have done.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/**
 * A process that runs a program, which is killed after the test.
 *
 * @param {URL} program
 */
export class Other {
  #process
  #lines
  #exit

  constructor(t, program, ...args) {
    this.#process = spawn(process.execPath, [fileURLToPath(program), ...args], {
      stdio: ['pipe', 'pipe', 'inherit']
    })
    this.#exit = once(this.#process, 'exit')
    this.#lines = createInterface({ input: this.#process.stdout })[Symbol.asyncIterator]()
    t.after(() => this.#process.kill('SIGKILL'))
  }

  /** The next line that it prints; undefined after the last. */
  async line() {
    return (await this.#lines.next()).value
  }

  /** Sends a line. */
  tell(line) {
    this.#process.stdin.write(`${line}\n`)
  }

  /** Closes its input and waits until it exits. Returns its exit code. */
  async end() {
    this.#process.stdin.end()
    return (await this.#exit)[0]
  }

  /** Kills it, and returns all lines that it had printed and that were not read yet. */
  async kill() {
    this.#process.kill('SIGKILL')
    const lines = []
    for (let line = await this.line(); line !== undefined; line = await this.line()) lines.push(line)
    await this.#exit
    return lines
  }
}
