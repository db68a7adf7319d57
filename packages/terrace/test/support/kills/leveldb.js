// LevelDB 1.23, which opens what a killed writer left with paranoid checks.

import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** The Python that Debian's python3-plyvel is built for. */
const python = '/usr/bin/python3'
const checker = fileURLToPath(
  new URL('../../../../../tests/interop/drivers/plyvel_checker.py', import.meta.url)
)

/** Why LevelDB cannot check on this machine; undefined if it can. */
export function reasonWithout() {
  const { status } = spawnSync(python, ['-c', 'import plyvel'])
  return status === 0 ? undefined : `LevelDB does not check: ${python} has no plyvel (python3-plyvel)`
}

/** A process that opens one directory after the other. */
export class LevelDB {
  #process = spawn(python, [checker], { stdio: ['pipe', 'pipe', 'inherit'] })
  #answers = createInterface({ input: this.#process.stdout })[Symbol.asyncIterator]()

  /** Recovers the database in `directory` and reads everything. Throws if that differs from `entries`. */
  async mustRead(directory, entries) {
    this.#process.stdin.write(`${directory}\n`)
    const { value: answer } = await this.#answers.next()
    if (answer === undefined) throw new Error('LevelDB crashed')
    const expected = digest(entries)
    if (answer !== expected) throw new Error(`LevelDB answers "${answer}", expected "${expected}"`)
  }

  close() {
    this.#process.stdin.end()
  }
}

/** The digest of `tests/interop/operations.py`. */
function digest(entries) {
  const sha = createHash('sha256')

  const add = (bytes) => {
    const length = Buffer.alloc(4)
    length.writeUInt32LE(bytes.length)
    sha.update(length).update(bytes)
  }

  for (const [key, value] of entries) {
    add(Buffer.from(key))
    add(value)
  }

  return `${entries.length} ${sha.digest('hex')}`
}
