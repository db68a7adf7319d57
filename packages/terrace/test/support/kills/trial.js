// A database that survives several kills. After each, `Level` and LevelDB open the files.

import { copyFileSync, existsSync, linkSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { Level } from 'terrace'
import { lanes, random, WIDTH } from './lanes.js'
import { options } from './options.js'
import { Oracle } from './oracle.js'
import { Victim } from './victim.js'

/** A guess until an opening has been measured. */
const FIRST_OPENING_MS = 20
const LONGEST_DELAY_MS = 30
const LARGE_DELAY_MS = 5

export class Trial {
  /** What was done, by name. */
  counts = {
    kills: 0,
    'kills while opening': 0,
    'kills in a large batch': 0,
    'acknowledged batches': 0,
    checkpoints: 0,
    'LevelDB checks': 0,
    'databases taken over from LevelDB': 0
  }

  #seed
  #draw
  #database
  #checkpoints
  #copies
  #oracle
  #leveldb
  #openingMs = FIRST_OPENING_MS

  /** Starts in an empty directory. `leveldb` is undefined if it is missing. */
  constructor(seed, directory, leveldb) {
    this.#seed = seed
    this.#draw = random(seed)
    this.#database = join(directory, 'db')
    this.#checkpoints = join(directory, 'checkpoints')
    this.#copies = join(directory, 'copies')
    mkdirSync(this.#copies)
    this.#oracle = new Oracle(lanes(seed))
    this.#leveldb = leveldb
  }

  /** Starts a writer, kills it at a random moment, and checks what it left. Throws if a promise was broken. */
  async kill() {
    const counts = this.#oracle.counts
    const victim = new Victim(this.#database, this.#seed, counts, this.#checkpoints)
    await this.#waitForMoment(victim)
    await victim.kill()
    this.counts.kills++
    this.counts['kills while opening'] += victim.opened ? 0 : 1
    this.counts['acknowledged batches'] += victim.acknowledgements

    const before = this.#oracle.clone()
    if (existsSync(join(this.#database, 'CURRENT'))) await this.#checkDatabase(victim)
    else if (victim.opened || counts.some((count) => count > 0)) throw new Error('the database is gone')
    for (const checkpoint of victim.checkpoints) await this.#checkCheckpoint(checkpoint, before.clone())
  }

  async #waitForMoment(victim) {
    // The second kill always comes after writes, so that no trial of a few kills is all openings.
    const moment = this.counts.kills === 1 ? 3 + this.#draw.below(4) : this.#draw.below(10)
    let delayMs = this.#draw.below(LONGEST_DELAY_MS)
    await victim.waitFor((kind) => kind === 'opening')

    if (moment < 3) {
      delayMs = this.#draw.below(Math.ceil(1.25 * this.#openingMs))
    } else {
      const started = performance.now()
      await victim.waitFor((_, { opened }) => opened)
      this.#openingMs = performance.now() - started
    }

    if (moment >= 3 && moment < 7) {
      const goal = this.#draw.choose([1, 10, 100, 1000])
      await victim.waitFor((_, { acknowledgements }) => acknowledgements >= goal)
    }

    if (moment === 7) {
      await victim.waitFor((kind) => kind === 'large')
      this.counts['kills in a large batch']++
      delayMs = this.#draw.below(LARGE_DELAY_MS)
    }

    if (moment > 7) await victim.waitFor((kind) => kind === 'chore' || kind === 'checkpoint')
    // A timer waits for at least 1 ms.
    if (delayMs > 0) await setTimeout(delayMs)
  }

  /** The next writer continues with what Level or LevelDB recovered, or recovers what this one left itself. */
  async #checkDatabase(victim) {
    const forLevelDB = join(this.#copies, 'LevelDB')
    copy(this.#database, forLevelDB)
    const isCopy = this.#draw.below(2) === 0
    const forUs = isCopy ? join(this.#copies, 'Level') : this.#database
    if (isCopy) copy(this.#database, forUs)

    const entries = await read(forUs)
    this.#oracle.accept(entries, victim.acknowledged, begun(victim.acknowledged, victim.opened))
    if (isCopy) rmSync(forUs, { recursive: true })
    await this.#compareWithLevelDB(forLevelDB, entries)

    if (this.#leveldb !== undefined && this.#draw.below(4) === 0) {
      this.counts['databases taken over from LevelDB']++
      rmSync(this.#database, { recursive: true })
      renameSync(forLevelDB, this.#database)
    } else {
      rmSync(forLevelDB, { recursive: true })
    }
  }

  /** A checkpoint that is done, or already has a CURRENT, is a database that holds everything acknowledged before it. */
  async #checkCheckpoint({ name, atLeast, doneAt }, oracle) {
    const directory = join(this.#checkpoints, name)

    if (doneAt || existsSync(join(directory, 'CURRENT'))) {
      const entries = await read(directory)
      oracle.accept(entries, atLeast, doneAt ? begun(doneAt, true) : this.#oracle.counts)
      await this.#compareWithLevelDB(directory, entries)
      this.counts.checkpoints++
    }

    rmSync(directory, { recursive: true, force: true })
  }

  async #compareWithLevelDB(directory, entries) {
    if (this.#leveldb === undefined) return
    await this.#leveldb.mustRead(directory, entries)
    this.counts['LevelDB checks']++
  }
}

/** How many writes of each lane may be found. */
function begun(acknowledged, isWriting) {
  return acknowledged.map((count) => count + (isWriting ? WIDTH : 0))
}

/** Every entry of the database in `directory`. */
async function read(directory) {
  const db = new Level(directory, { ...options, createIfMissing: false, paranoidChecks: true })

  try {
    const entries = await db.iterator().all()
    const values = await db.getMany(entries.map(([key]) => key))
    if (entries.some(([, value], index) => !value.equals(values[index])))
      throw new Error('by key it reads otherwise')
    return entries
  } finally {
    await db.close()
  }
}

/** Copies the files of a directory. Tables are linked, because finished ones never change. */
function copy(from, to) {
  mkdirSync(to)

  for (const entry of readdirSync(from, { withFileTypes: true })) {
    if (!entry.isFile()) continue
    const put = entry.name.endsWith('.ldb') ? linkSync : copyFileSync
    put(join(from, entry.name), join(to, entry.name))
  }
}
