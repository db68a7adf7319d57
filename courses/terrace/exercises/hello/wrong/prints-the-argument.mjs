// reads nothing from the database
import { Level } from 'terrace'

const [directory, bird] = process.argv.slice(2)
const db = new Level(directory)
await db.put('bird', bird)
console.log(bird)
await db.close()
