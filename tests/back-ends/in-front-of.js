import { NetLevel } from 'terrace-net'
import { ServedLevel } from '../../packages/net/test/support/served-level.js'

const HOW = { unix: '', tcp: ' over TCP' }
const bytes = { keyEncoding: 'buffer', valueEncoding: 'buffer' }

/** A client declares versions before it knows whether the server's database has them. */
const withoutVersions = [
  'each write of a key gives its entry a larger version',
  'getEntry() takes the options of get()',
  'a version outlives the database object',
  'a condition names the version of an entry',
  'a condition on a range names the version since which nothing has changed'
].map((test) => ({ test, reason: 'the database of its server has no versions: LEVEL_NOT_SUPPORTED' }))

/**
 * A client, with a server in front of a target. It repeats those in front of the same class with another store or server.
 *
 * @param {import('./targets.js').Target} target
 * @returns {import('./targets.js').Target}
 */
export function inFrontOf(target, { transport = 'unix', repeats } = {}) {
  return {
    name: `NetLevel${HOW[transport]} in front of ${target.name}`,
    machines: 'any number',
    supports: {
      getSync: false,
      putSync: false,
      everyWrite: false,
      conditionalWrites: true,
      versions: true
    },
    make: (location, options) => new ServedLevel(transport, target.make(location, bytes), options),
    join: ({ address }) => new NetLevel(address),
    several: {},
    missing: target.missing,
    server: target.server,
    timeoutMs: target.timeoutMs,
    repeats,
    known: target.supports.versions === true ? {} : { core: withoutVersions }
  }
}
