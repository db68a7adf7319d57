// Runs listing.js, whose beginning is a listing of 2013, unmodified. The arguments name the packages that stand for levelup and for
// leveldown-basho in it; /path/to is the current directory.

const Module = require('node:module')
const { join } = require('node:path')

const [, , levelup, leveldown] = process.argv
const load = Module._load

const packages = {
  levelup: (location, ...args) => load(levelup, module)(location.replace(/^\/path\/to\//, './'), ...args),
  'leveldown-basho': load(leveldown, module)
}

const listing = join(__dirname, 'listing.js')

Module._load = (request, parent, ...rest) =>
  parent?.filename === listing && request in packages ? packages[request] : load(request, parent, ...rest)

require(listing)
