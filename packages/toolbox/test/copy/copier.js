// Copies between two directories until it is killed: node copier.js DATABASE FROM TO BATCHES. Prints a line after so many. Nothing
// is left to do if an earlier copier was killed between the end of its copy and its own: that is no failure.

import { ClassicLevel } from 'classic-level'
import { Level } from 'terrace'
import { copy } from 'terrace-toolbox/copy'

const [name, from, to, batches] = process.argv.slice(2)
const Database = { terrace: Level, 'classic-level': ClassicLevel }[name]
const source = new Level(from, { readOnly: true })
const target = new Database(to)
await target.open()
let written = 0
target.on('write', () => ++written === Number(batches) && process.stdout.write('written\n'))
await copy(source, target, { batchSize: 20 }).catch((error) => {
  if (error.code !== 'COPY_TARGET_NOT_EMPTY') throw error
})
