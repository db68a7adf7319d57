// LevelDB 1.20 through classic-level, or Terrace through its Node package: the class is named by LEVEL_CLASS, as
// "package#Class". The commands are those of ../README.md.

import { createHash } from 'node:crypto'
import { readFileSync, writeSync } from 'node:fs'
import { parseArgs } from 'node:util'

const ABSENT = 0xffffffff
const BYTES = { keyEncoding: 'buffer', valueEncoding: 'buffer' }

function* readWrites(path) {
  const file = readFileSync(path)
  let at = 0
  const number = () => {
    at += 4
    return file.readUInt32LE(at - 4)
  }
  const bytes = () => {
    const size = number()
    at += size
    return file.subarray(at - size, at)
  }
  while (at < file.length) {
    const write = []
    for (let left = number(); left > 0; left--) {
      const isPut = file[at++] === 1
      write.push(isPut ? { type: 'put', key: bytes(), value: bytes() } : { type: 'del', key: bytes() })
    }
    yield write
  }
}

async function apply(db, options) {
  const first = Number(options.first)
  const last = Number(options.last)
  let index = 0
  for (const write of readWrites(options.operations)) {
    if (index === last) break
    if (index++ < first) continue
    const [{ type, key, value }] = write
    if (write.length > 1) await db.batch(write)
    else if (type === 'put') await db.put(key, value)
    else await db.del(key)
    // Written straight to the descriptor, because the line must be out before the next write begins.
    if (options.acknowledge) writeSync(1, `${index}\n`)
  }
}

class Digest {
  #sha = createHash('sha256')
  #count = 0

  add(key, value) {
    this.#number(key.length)
    this.#sha.update(key)
    this.#number(value === undefined ? ABSENT : value.length)
    if (value !== undefined) this.#sha.update(value)
    this.#count++
  }

  #number(value) {
    const bytes = Buffer.alloc(4)
    bytes.writeUInt32LE(value)
    this.#sha.update(bytes)
  }

  toString() {
    return `${this.#count} ${this.#sha.digest('hex')}`
  }
}

async function digestEntries(db, options) {
  const digest = new Digest()
  for await (const [key, value] of db.iterator(options)) digest.add(key, value)
  return digest
}

async function digestPoints(db, path) {
  const file = readFileSync(path)
  const digest = new Digest()
  for (let at = 0; at < file.length; ) {
    const size = file.readUInt32LE(at)
    const key = file.subarray(at + 4, at + 4 + size)
    digest.add(key, await db.get(key))
    at += 4 + size
  }
  return digest
}

const {
  values: options,
  positionals: [command, directory]
} = parseArgs({
  allowPositionals: true,
  options: {
    operations: { type: 'string' },
    keys: { type: 'string' },
    first: { type: 'string', default: '0' },
    last: { type: 'string', default: '-1' },
    acknowledge: { type: 'boolean' },
    compression: { type: 'string', default: 'snappy' },
    'write-buffer': { type: 'string', default: String(4 << 20) }
  }
})

const [packageName, className] = (process.env.LEVEL_CLASS ?? 'classic-level#ClassicLevel').split('#')
const { [className]: Level } = await import(packageName)
const db = new Level(directory, {
  ...BYTES,
  createIfMissing: command !== 'digest',
  compression: options.compression === 'snappy',
  writeBufferSize: Number(options['write-buffer'])
})
await db.open()
if (command === 'apply') {
  await apply(db, options)
} else if (command === 'digest') {
  console.log(`forward ${await digestEntries(db, {})}`)
  console.log(`backward ${await digestEntries(db, { reverse: true })}`)
  console.log(`points ${await digestPoints(db, options.keys)}`)
} else {
  writeSync(1, 'held\n')
  for await (const _ of process.stdin);
}
await db.close()
