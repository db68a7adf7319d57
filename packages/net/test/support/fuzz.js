// Hostile bytes for the reader of frames, hostile clients for a server, hostile servers for clients, and users with random permissions.
//
//   node test/support/fuzz.js COUNT     frames for each of these; TERRACE_SEED repeats a run

import { fuzzClient } from './fuzz-client.js'
import { fuzzReader } from './fuzz-frames.js'
import { FRAMES, fuzzServer } from './fuzz-server.js'
import { permissionRound } from './permission-round.js'
import { Random, seed } from './random.js'

/** About how many messages a hostile server sends to one client. */
const SENT = 25

/** Steps of one user. */
const STEPS = 25

const count = Number(process.argv[2] ?? 10_000)
const random = new Random()
console.log(`TERRACE_SEED=${seed}`)
console.log('reader', count, fuzzReader(random, count))
const connections = Math.ceil(count / FRAMES)
const { requests, kinds, mostHeldBytes } = await fuzzServer(random, connections)
console.log('server', connections, 'connections; at most', mostHeldBytes, 'bytes were held')
console.table(kinds)
console.table(requests)
const clients = Math.ceil(count / SENT)
console.log('client', clients, 'hostile servers; calls:', await fuzzClient(random, clients))
const users = Math.ceil(count / STEPS)
const counts = {}
for (let user = 0; user < users; user++) await permissionRound(random, STEPS, counts)
console.log('permissions', users, 'users')
console.table(counts)
