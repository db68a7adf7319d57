// must export a function as default
import listing from './listing.mjs'

const [directory, extension] = process.argv.slice(2)

for (const name of await listing(directory, extension)) console.log(name)
