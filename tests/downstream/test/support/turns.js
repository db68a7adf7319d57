// Runs a client's work on classic-level alone, on Level alone, and on databases that both use in turn.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { ClassicLevel } from 'classic-level'
import { Level } from 'terrace'

/**
 * The work of a client, written once for every database.
 *
 * @typedef {object} Work
 * @property {(DatabaseClass: Function, directory: string) => Promise<object>} open Opens the client on a database of that
 * class.
 * @property {(client: object) => Promise<void>} close Closes the client and its database.
 * @property {(client: object) => Promise<void>} begin Writes the first half into an empty database.
 * @property {(client: object) => Promise<void>} goOn Writes the second half, which changes and deletes some of the first.
 * @property {(client: object) => Promise<unknown>} answers Asks for everything that is compared.
 * @property {(answers: any) => void} check Compares the answers with what follows from the input, without any database.
 * @property {(key: Buffer) => boolean} [isTime] True for entries that hold the time of writing. Their values may differ.
 */

/** The class that writes the first half, and the one that writes the second. Both read the result. */
const TURNS = [
  ['Level alone', Level, Level],
  ['Level takes over from classic-level', ClassicLevel, Level],
  ['classic-level takes over from Level', Level, ClassicLevel]
]

/** One in this many entries is removed, to see that the answers show it. */
const LOST_ONE_IN = 7

/**
 * Registers the tests of one client. The answers, and every entry of the database, must be those of classic-level.
 *
 * @param {string} name - The client.
 * @param {Work} work - What it does.
 */
export function takeTurns(name, work) {
  describe(name, () => {
    let expected
    const directories = []
    after(() => {
      for (const directory of directories) rmSync(directory, { recursive: true, force: true })
    })

    /** Makes `First` write one half and `Second` the other. Returns the directory, which is removed after the tests. */
    async function inTurns(First, Second) {
      const directory = mkdtempSync(join(tmpdir(), 'terrace-clients-'))
      directories.push(directory)
      await using(work, First, directory, work.begin)
      await using(work, Second, directory, work.goOn)
      return directory
    }

    before(async () => {
      const directory = await inTurns(ClassicLevel, ClassicLevel)
      // The entries come first: a client may change the database when it answers queries.
      const entries = await digest(work, directory)
      expected = { entries, answers: await answersOf(work, ClassicLevel, directory) }
    })

    test('classic-level gives the answers that follow from the input', () => work.check(expected.answers))

    for (const [title, First, Second] of TURNS) {
      test(title, async () => {
        const directory = await inTurns(First, Second)
        assert.equal(await digest(work, directory), expected.entries)
        for (const Reader of [Level, ClassicLevel]) {
          assert.deepEqual(await answersOf(work, Reader, directory), expected.answers)
        }
      })
    }

    test('entries that are lost show in the answers', async () => {
      const directory = await inTurns(Level, Level)
      await lose(directory)
      const answers = await answersOf(work, Level, directory).catch((error) => error)
      assert.notDeepEqual(answers, expected.answers)
    })
  })
}

const answersOf = (work, DatabaseClass, directory) => using(work, DatabaseClass, directory, work.answers)

/** Opens the client, does something with it, and closes it. It must have used one database of that class, and closed it. */
async function using(work, DatabaseClass, directory, action) {
  const made = []
  class Observed extends DatabaseClass {
    constructor(...args) {
      super(...args)
      made.push(this)
    }
  }

  const client = await work.open(Observed, directory)
  try {
    return await action(client)
  } finally {
    await work.close(client)
    assert.deepEqual(
      made.map((db) => db.status),
      ['closed']
    )
  }
}

/** SHA-256 of all entries in order, as classic-level reads them. */
async function digest(work, directory) {
  const hash = createHash('sha256')
  await withEntries(ClassicLevel, directory, async (db) => {
    for await (const [key, value] of db.iterator()) {
      const content = work.isTime?.(key) ? Buffer.alloc(0) : value
      hash.update(`${key.length} ${content.length} `).update(key).update(content)
    }
  })
  return hash.digest('hex')
}

/** Deletes one entry in LOST_ONE_IN, without the client. */
async function lose(directory) {
  await withEntries(Level, directory, async (db) => {
    const keys = await db.keys().all()
    const lost = keys.filter((_, index) => index % LOST_ONE_IN === 0)
    await db.batch(lost.map((key) => ({ type: 'del', key })))
  })
}

/** Opens the database itself, with keys and values as bytes. */
async function withEntries(DatabaseClass, directory, action) {
  const db = new DatabaseClass(directory, { keyEncoding: 'buffer', valueEncoding: 'buffer' })
  await db.open()
  try {
    await action(db)
  } finally {
    await db.close()
  }
}
