// return the names, and print nothing
import listing from './listing.mjs'

await listing(process.argv[2], process.argv[3])
