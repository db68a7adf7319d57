// wait for the names
import listing from './listing.mjs'

for (const name of listing(process.argv[2], process.argv[3])) console.log(name)
