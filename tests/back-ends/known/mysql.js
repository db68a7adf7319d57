// The tests of terrace-core and of the toolbox that do not hold for databases in MySQL.

/** @type {Record<string, import('../../support/known.mjs').Known[]>} */
export const known = {
  core: [
    {
      test: '80 random histories of writes',
      reason: 'its many snapshots can use up the connections of the pool (LEVEL_POOL_EXHAUSTED)',
      is: 'may fail'
    }
  ],
  ttl: [{ test: 'histories at random with a view', reason: 'it takes minutes', is: 'left out' }]
}
