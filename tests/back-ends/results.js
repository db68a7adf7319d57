// The file of results: for each target what each job came to, and when, where and of which commit.

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { commit, machine } from '../../scripts/machine.mjs'
import { targets } from './targets.js'

export class Results {
  #file
  #found

  /**
   * @param file - Where to write them; nowhere if undefined.
   * @param options - Whether the run `isWhole`, so that it replaces all that the file has.
   */
  constructor(file, { isWhole }) {
    this.#file = file
    this.#found =
      !isWhole && file !== undefined && existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).targets : []
  }

  /** Notes what a job came to. */
  add(target, job, found) {
    const { notRun, ...entry } = this.#entry(target)
    const { machines, several } = target
    this.#replace({
      ...entry,
      machines,
      several,
      commit: commit(),
      date: new Date().toISOString(),
      [job]: found
    })
  }

  /** Notes that nothing could be run, and why. */
  leaveOut(target, notRun) {
    console.log(`${target.name}: not run: ${notRun}`)
    this.#replace({ name: target.name, notRun })
  }

  #entry({ name }) {
    return this.#found.find((entry) => entry.name === name) ?? { name }
  }

  #replace(entry) {
    this.#found = [...this.#found.filter(({ name }) => name !== entry.name), entry]
  }

  /** Writes the file, with the targets in the order of the registry. */
  write() {
    if (this.#file === undefined) return
    const order = targets.map(({ name }) => name)
    const known = this.#found.filter(({ name }) => order.includes(name))
    const others = order.filter((name) => !known.some((entry) => entry.name === name))
    const missing = others.map((name) => ({
      name,
      notRun: `node tests/back-ends/run.js --target '${name}' has not been run`
    }))
    const sorted = [...known, ...missing].toSorted((a, b) => order.indexOf(a.name) - order.indexOf(b.name))
    writeFileSync(this.#file, `${JSON.stringify({ machine: machine(tmpdir()), targets: sorted }, null, 1)}\n`)
  }
}
