// The tests of terrace-core and of the toolbox that do not hold for databases in LMDB.

/** @type {Record<string, import('../../support/known.mjs').Known[]>} */
export const known = {
  ttl: [{ test: 'histories at random with a view', reason: 'it takes minutes', is: 'left out' }],
  feed: [
    {
      test: 'by count, in the background',
      reason: 'it counts on trimming being slower than three writes',
      is: 'may fail'
    }
  ]
}
