/** The class for databases in memory, in place of memdown. */

import { MemoryLevel } from 'terrace'
import { type AnyLevel, Database, initialize } from './database.js'
import { hybrid } from './hybrid.js'
import { manifest } from './manifest.js'
import type { LevelDown } from './types.js'

interface MemDownConstructor {
  new (): LevelDown
  (): LevelDown
  readonly prototype: LevelDown
}

const MemDOWN = hybrid('MemDOWN', class extends Database {}, (db) => {
  const origin = {
    location: undefined,
    notFoundMessage: 'NotFound',
    ignoresEmptyBounds: false,
    fillsAbsent: false,
    create: () => new MemoryLevel({ keyEncoding: 'buffer', valueEncoding: 'buffer' }) as unknown as AnyLevel,
    openOptions: ({ keyEncoding, valueEncoding, passive, ...others }: Record<string, unknown>) => others
  }
  initialize(db, origin, manifest({}))
}) as unknown as MemDownConstructor

const memdown: MemDownConstructor = MemDOWN

export = memdown
