// Moves money between accounts until it is killed, and prints a dot for each transfer:
// node clerk.js <terrace or classic-level> <directory>

import { ClassicLevel } from 'classic-level'
import { Level } from 'terrace'
import { transactions } from 'terrace-toolbox/transaction'

const [kind, directory] = process.argv.slice(2)
const db = new (kind === 'terrace' ? Level : ClassicLevel)(directory, { valueEncoding: 'json' })
const accounts = db.sublevel('accounts', { valueEncoding: 'json' })
const log = db.sublevel('log', { valueEncoding: 'json' })
const transaction = transactions(db, { retries: Number.POSITIVE_INFINITY })
const names = Array.from({ length: 8 }, (_, i) => `account ${i}`)

await transaction(async (tx) => {
  for (const name of names)
    if (!(await tx.has(name, { sublevel: accounts }))) tx.put(name, 100, { sublevel: accounts })
})

async function clerk() {
  for (;;) {
    const [from, to] = [0, 0].map(() => names[Math.floor(Math.random() * names.length)])
    const isDone = await transaction(async (tx) => {
      const [has, gets] = await tx.getMany([from, to], { sublevel: accounts })
      const transfers = (await tx.get('transfers', { sublevel: log })) ?? 0
      if (from === to || has === 0) return false
      tx.put(from, has - 1, { sublevel: accounts })
      tx.put(to, gets + 1, { sublevel: accounts })
      tx.put('transfers', transfers + 1, { sublevel: log })
      tx.put(`transfer ${transfers}`, 1, { sublevel: log })
      return true
    })
    if (isDone) process.stdout.write('.')
    await new Promise((resolve) => setImmediate(resolve))
  }
}

await Promise.all([clerk(), clerk(), clerk(), clerk()])
