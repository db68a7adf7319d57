// A dedicated worker that has a database for itself.

import { Level } from '/level.js'
import { timed } from '/works.js'

let db

const answers = {
  async open(name) {
    db = new Level(name)
    await db.open()
  },
  run: (...work) => timed(db, ...work),
  async end() {
    await db.clear()
    await db.close()
  }
}

addEventListener('message', async ({ data: [question, ...args] }) => {
  try {
    postMessage({ result: await answers[question](...args) })
  } catch (error) {
    postMessage({ error: error.stack })
  }
})
