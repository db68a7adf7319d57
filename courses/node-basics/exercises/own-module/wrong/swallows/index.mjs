// the error of readdir must reach the caller
import listing from './listing.mjs'

for (const name of await listing(process.argv[2], process.argv[3])) console.log(name)
