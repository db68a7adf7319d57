// does not close the database
import { Level } from 'terrace'

const [directory, bird] = process.argv.slice(2)
const db = new Level(directory)
await db.put('bird', bird)
console.log(await db.get('bird'))
