// holds no entry with the key bird
import { Level } from 'terrace'

const [directory, bird] = process.argv.slice(2)
const db = new Level(directory)
await db.open()
console.log(bird)
await db.close()
