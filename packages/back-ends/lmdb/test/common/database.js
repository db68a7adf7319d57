// What the tests of terrace-core and of the toolbox run on as well.

export { LmdbLevel as Database } from 'terrace-lmdb'
export const name = 'LMDB'
export const supports = { getSync: true, putSync: false, everyWrite: true }
