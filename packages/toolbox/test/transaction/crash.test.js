// A process that is killed during transfers leaves only whole transactions.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { ClassicLevel } from 'classic-level'
import { Level } from 'terrace'
import { scaled } from '../../../../tests/support/form.mjs'
import { directory } from '../support/databases.js'

const clerk = fileURLToPath(new URL('support/clerk.js', import.meta.url))

for (const [name, Database] of [
  ['terrace', Level],
  ['classic-level', ClassicLevel]
]) {
  test(`${name}: after SIGKILL amid transfers, none is half done`, async (t) => {
    const path = join(directory(t), 'db')
    let before = 0

    for (let round = 0; round < scaled(4, 2); round++) {
      const child = spawn(process.execPath, [clerk, name, path], { stdio: ['ignore', 'pipe', 'inherit'] })
      // It says so for each transfer.
      const least = 20 + Math.random() * 100
      let made = 0
      child.stdout.on('data', (dots) => {
        made += dots.length
        if (made >= least) child.kill('SIGKILL')
      })
      await once(child, 'close')

      const db = new Database(path, { valueEncoding: 'json' })
      const values = await db.sublevel('accounts', { valueEncoding: 'json' }).values().all()
      const log = db.sublevel('log', { valueEncoding: 'json' })
      const transfers = await log.get('transfers')
      const entries = await log.keys({ gte: 'transfer ', lt: 'transfer!' }).all()
      await db.close()

      assert.equal(
        values.reduce((sum, value) => sum + value, 0),
        800
      )
      assert.equal(entries.length, transfers)
      assert.ok(transfers > before, `${transfers} transfers`)
      before = transfers
    }
  })
}
