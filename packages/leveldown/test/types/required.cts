// Checked by the compiler, not run: the same types in CommonJS.

import leveldown = require('terrace-leveldown')

const db: leveldown.LevelDown = leveldown('./db')
const options: leveldown.LevelDownOpenOptions = { errorIfExists: true }
db.open(options, (error) => console.log(error?.message))
