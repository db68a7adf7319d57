// Looks into the database itself, before and after each compaction, which is when the learner's function has to look.

import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Level } from 'terrace'

/**
 * @param {(db: Level, entries: Array<[string, string]>) => unknown} watch
 * @param {{ entries: Array<[string, string]> }} data
 * @returns What the function returned, what there was to see, the prediction, and what the database holds in the end.
 */
export default async function harness(watch, { entries }, { directory, module }) {
  const db = new WatchedLevel(join(directory, 'database'))
  await db.open()
  const returned = await watch(db, entries)
  const contents = await db.iterator().all()
  await db.close()
  return { returned, found: db.found, contents, prediction: module.prediction }
}

class WatchedLevel extends Level {
  /** What there was before and after each compaction. */
  found = []

  async compactRange(...args) {
    this.found.push(await this.#look())
    await super.compactRange(...args)
    await this.#oneLog()
    this.found.push(await this.#look())
  }

  async #look() {
    const { levels, memtableBytes } = this.stats()
    const sizes = await Promise.all((await this.#logs()).map(async (path) => (await stat(path)).size))
    const [tables, logBytes] = [levels.map(({ files }) => files), sizes.reduce((sum, size) => sum + size, 0)]
    return { tables, logBytes, memtableBytes }
  }

  /** The log that a flush has made superfluous may be removed a moment later. */
  async #oneLog() {
    for (let tries = 0; tries < 1000 && (await this.#logs()).length > 1; tries++) await sleep(1)
  }

  async #logs() {
    const names = await readdir(this.location)
    return names.filter((name) => name.endsWith('.log')).map((name) => join(this.location, name))
  }
}
