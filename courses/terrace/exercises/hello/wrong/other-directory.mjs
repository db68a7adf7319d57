// no database in the directory
import { Level } from 'terrace'

const [, bird] = process.argv.slice(2)
const db = new Level('./notebook')
await db.put('bird', bird)
console.log(await db.get('bird'))
await db.close()
