import { Level } from 'terrace'

const [directory, bird] = process.argv.slice(2)
