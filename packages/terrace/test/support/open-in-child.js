// Opens the database that the first argument names, and tells the parent the result.

import { Level } from 'terrace'

const db = new Level(process.argv[2])

db.open().then(
  () => report(null),
  (error) => report({ code: error.code, cause: { code: error.cause.code, message: error.cause.message } })
)

function report(error) {
  process.send(error, () => process.disconnect())
}
