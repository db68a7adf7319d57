// What is compared. Each target opens a database, serves it at an address, and connects to it.

import { once } from 'node:events'
import { connect, createServer as createSocketServer } from 'node:net'
import { pipeline } from 'node:stream'
import { Level } from 'terrace'
import { NetLevel } from 'terrace-net'
import { createServer } from 'terrace-net/server'
import { isThere, load } from './modules.js'

const terraceNet = {
  serve: async (db, address) => createServer(db).listen(address),
  connect: (address) => new NetLevel(address)
}

const manyLevel = {
  async serve(db, address) {
    const { ManyLevelHost } = load('many-level', '2.')
    const host = new ManyLevelHost(db)
    const server = createSocketServer((socket) => {
      socket.setNoDelay(true)
      pipeline(socket, host.createRpcStream(), socket, () => {})
    })
    server.listen(socketOptions(address))
    await once(server, 'listening')
    return address.startsWith('unix:') ? address : `tcp://127.0.0.1:${server.address().port}`
  },
  connect(address) {
    const { ManyLevelGuest } = load('many-level', '2.')
    const db = new ManyLevelGuest()
    const socket = connect(socketOptions(address))
    socket.setNoDelay(true)
    pipeline(socket, db.createRpcStream(), socket, () => {})
    return db
  }
}

const classic = (version) => (location) => {
  const { ClassicLevel } = load('classic-level', version)
  return new ClassicLevel(location)
}

/** How long the server of a soak keeps a lost session, in ms. */
export const SOAKED_SESSION_MS = 200

/** The soak's server has users with and without rights, and forgets lost sessions soon. */
const soaked = {
  serve: async (db, address) => {
    const readable = { keys: [{ allow: 'read', lt: '1' }] }
    const server = createServer(db, {
      tokens: { all: { name: 'all' }, some: { name: 'some', permissions: readable } },
      methods: { echo: (...given) => given },
      limits: { sessionMs: SOAKED_SESSION_MS }
    })
    return server.listen(address)
  }
}

/** The targets by name. Those without `serve` are used in the client's process. */
export const TARGETS = {
  'terrace-net': { open: (location) => new Level(location), ...terraceNet },
  'terrace-net, classic-level 3': { open: classic('3.'), needs: [['classic-level', '3.']], ...terraceNet },
  'many-level, classic-level 1': {
    open: classic('1.'),
    needs: [
      ['many-level', '2.'],
      ['classic-level', '1.']
    ],
    ...manyLevel
  },
  'local terrace': { open: (location) => new Level(location) }
}

/** What the soak works with; it is not compared. */
export const SOAKED = { open: (location) => new Level(location), ...soaked }

/** What a target lacks; empty if it can run. */
export function missing(name) {
  const { needs = [] } = TARGETS[name]
  return needs
    .filter(([each, version]) => !isThere(each, version))
    .map(([each, version]) => `${each} ${version}x`)
}

function socketOptions(address) {
  if (address.startsWith('unix:')) return { path: address.slice('unix:'.length) }
  const { hostname, port } = new URL(address)
  return { host: hostname, port: Number(port) }
}
