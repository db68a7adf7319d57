/** Targets with a short name. Any other name is a package or a path. */

const MIB = 1 << 20

/**
 * @typedef {object} Known
 * @property {string} package
 * @property {string} [className] the export; not needed if there is only one
 * @property {string} [adapter] a module of this directory that makes a class from the package
 * @property {boolean} [inMemory] it has no location, and no disk for `sync`
 * @property {object} [options] of the database
 */

/** @type {Record<string, Known>} */
export const KNOWN = {
  terrace: { package: 'terrace', className: 'Level' },
  'terrace:server': { package: 'terrace', className: 'Level', options: { preset: 'server' } },
  'terrace:leveldb': {
    package: 'terrace',
    className: 'Level',
    // LevelDB's defaults, which classic-level shares.
    options: {
      writeBufferSize: 4 * MIB,
      cacheSize: 8 * MIB,
      maxFileSize: 2 * MIB,
      blockSize: 4096,
      maxOpenFiles: 1000,
      filterBitsPerKey: 0
    }
  },
  'classic-level': { package: 'classic-level', className: 'ClassicLevel' },
  'memory-level': { package: 'memory-level', className: 'MemoryLevel', inMemory: true },
  lmdb: { package: 'lmdb', adapter: './lmdb.js' },
  'better-sqlite3': { package: 'better-sqlite3', adapter: './better-sqlite3.js' },
  MemoryLevel: { package: 'terrace', className: 'MemoryLevel', inMemory: true }
}
