import listing from './listing.mjs'

const [directory, extension] = process.argv.slice(2)

console.log(listing(directory, extension))
