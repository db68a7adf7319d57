// Checked by the compiler, not run: which databases a server takes, and what else it is given.

import { ClassicLevel } from 'classic-level'
import { MemoryLevel as NpmMemoryLevel } from 'memory-level'
import { Level, MemoryLevel } from 'terrace'
import { NetLevel } from 'terrace-net'
import { createServer, type Server, type ServerOptions } from 'terrace-net/server'
import { feed } from 'terrace-toolbox/feed'
import { ttl } from 'terrace-toolbox/ttl'

interface User {
  name: string
}

export function databases(): void {
  const server: Server = createServer(new ClassicLevel('directory'))
  createServer(new ClassicLevel<string, string>('directory'))
  createServer(new ClassicLevel<number, User>('directory', { valueEncoding: 'json' }))
  createServer(new ClassicLevel('directory').sublevel('users'))
  createServer(new NpmMemoryLevel())
  createServer(new NpmMemoryLevel<Uint8Array, User>().sublevel<string, User>('users', {}))
  createServer(new Level('directory'))
  createServer(new Level<number, User>('directory'))
  createServer(new Level('directory').sublevel('users').sublevel<string, User>('deep', {}))
  createServer(new MemoryLevel<Buffer, User>())
  createServer(new NetLevel<string, User>('unix:socket'))
  createServer(ttl(new Level<string, User>('directory')))
  const classic = new ClassicLevel('directory')
  createServer(classic)
  void server

  // @ts-expect-error: the path of a database is none
  createServer('directory')
  // @ts-expect-error: a map is no database
  createServer(new Map())
  // @ts-expect-error: an iterator is no database
  createServer(new Level('directory').iterator())
}

export async function options(): Promise<void> {
  const db = new Level<string, User>('directory', { valueEncoding: 'json' })
  const given: ServerOptions = {
    tokens: {
      secret: {
        name: 'anna',
        permissions: { keys: [{ allow: ['read', 'watch'], sublevel: 'users', gte: 'a' }], feeds: ['changes'] }
      }
    },
    methods: {
      double: (number: number) => number * 2,
      async who() {
        return this.user?.name
      }
    },
    feeds: { changes: feed(db), numbers: feed(new ClassicLevel<string, number>('directory')) },
    limits: { connections: 5 },
    onWarning: (warning, { address }) => void [warning.message, address]
  }
  const server = createServer(db, given)
  const address: string = await server.listen('tcp://127.0.0.1:0')
  const { connections } = server.statistics().open
  void [address, connections]

  // @ts-expect-error: there is no such right
  createServer(db, { permissions: { keys: [{ allow: 'delete' }] } })
  // @ts-expect-error: a database is no feed
  createServer(db, { feeds: { changes: db } })
  // @ts-expect-error: there is no such limit
  createServer(db, { limits: { connexions: 5 } })
}
