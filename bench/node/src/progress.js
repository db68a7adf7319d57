/** Shows the progress of a run on stderr: as a bar on a terminal, otherwise as occasional lines. */

import { SingleBar } from 'cli-progress'

const LINE_EVERY_MILLIS = 10_000

export class Progress {
  #bar = process.stderr.isTTY
    ? new SingleBar({ format: '{bar} {percentage} % {label}', stream: process.stderr, hideCursor: true })
    : undefined
  #runs
  #done = 0
  #label = ''
  #printed = 0

  /** @param {number} runs the number of runs */
  constructor(runs) {
    this.#runs = runs
    this.#bar?.start(100, 0, { label: '' })
  }

  /** @param {string} label of the run that begins */
  begin(label) {
    this.#label = label
    this.#printed = performance.now()
    this.update(0)
  }

  /** @param {number} share of the run that is done */
  update(share) {
    this.#bar?.update(Math.floor(((this.#done + share) / this.#runs) * 100), { label: this.#label })
    if (this.#bar || performance.now() - this.#printed < LINE_EVERY_MILLIS) return
    this.#printed = performance.now()
    console.error(`${this.#label}: ${Math.floor(share * 100)} %`)
  }

  /** @param {number} seconds that the run took */
  end(seconds) {
    this.#done++
    if (this.#bar) this.update(0)
    else console.error(`${this.#label}: done in ${seconds.toFixed(1)} s (${this.#done} of ${this.#runs})`)
  }

  stop() {
    this.#bar?.stop()
  }
}
