// Writes until it is killed.
//
//   writer.js DIRECTORY SEED COUNTS DIRECTORY-FOR-CHECKPOINTS RUNTIME
//
// COUNTS are the existing writes of each lane, with commas between. RUNTIME is the value of `runtime.js` in the parent process.
// Each line below is written to standard output, by one system call, once it is true:
//
//   opening, opened              of the database
//   large                        a lane begins a large write
//   ack LANE NUMBER              the promise of a lane's write is fulfilled
//   chore                        a compaction begins
//   checkpoint NAME              a checkpoint begins
//   checkpointed NAME            its promise is fulfilled

import { mkdirSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate, setTimeout } from 'node:timers/promises'
import { Level } from 'terrace'
import { lanes, WIDTH } from './lanes.js'
import { options } from './options.js'
import { runtime } from './runtime.js'

const LONGEST_PAUSE_BETWEEN_CHORES_MS = 20

const [directory, seed, counts, checkpoints, expected] = process.argv.slice(2)
if (runtime !== expected) throw new Error(`this is "${runtime}", not "${expected}"`)
const say = (line) => writeSync(1, `${line}\n`)

const db = new Level(directory, { ...options, passive: true })
say('opening')
await db.open()
say('opened')

mkdirSync(checkpoints, { recursive: true })
const started = counts.split(',').map(Number)
await Promise.all([...lanes(Number(seed)).map((lane) => writeLane(lane, started[lane.number])), doChores()])

async function writeLane(lane, count) {
  const target = lane.sublevel === undefined ? db : db.sublevel(lane.sublevel, { valueEncoding: 'buffer' })
  const keyStart = lane.sublevel === undefined ? 0 : lane.prefix.length
  const underWay = []
  await target.open()

  for (let number = count + 1; ; number++) {
    const write = lane.write(number)
    if (write.isLarge) say('large')
    for (const operation of write.operations) operation.key = operation.key.slice(keyStart)
    underWay.push(call(target, write).then(() => say(`ack ${lane.number} ${number}`)))
    if (underWay.length === WIDTH) await underWay.shift()
    // Writes that finish within the call would never give other work a turn.
    if (number % 16 === 0) await setImmediate()
  }
}

function call(target, { kind, operations, sync }) {
  const [{ key, value }] = operations
  if (kind === 'put') return target.put(key, value, { sync })
  if (kind === 'del') return target.del(key, { sync })
  if (kind === 'batch') return target.batch(operations, { sync })
  return operations
    .reduce(
      (batch, { type, key, value }) => (type === 'put' ? batch.put(key, value) : batch.del(key)),
      target.batch()
    )
    .write({ sync })
}

async function doChores() {
  for (let chore = 0; ; chore++) {
    await setTimeout(Math.random() * LONGEST_PAUSE_BETWEEN_CHORES_MS)

    if (Math.random() < 0.5) {
      say('chore')
      await db.compactRange('', '~')
    } else {
      const name = `${process.pid}-${chore}`
      say(`checkpoint ${name}`)
      await db.checkpoint(join(checkpoints, name))
      say(`checkpointed ${name}`)
    }
  }
}
