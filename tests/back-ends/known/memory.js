// The tests of terrace-core and of the toolbox that do not hold for MemoryLevel.

const NO_WAIT =
  'it counts on a read or write that waits, and MemoryLevel has done its work when a call returns'

/** @type {Record<string, import('../../support/known.mjs').Known[]>} */
export const known = {
  core: [
    {
      test: 'a snapshot is not kept open while has() and hasMany() read from it',
      reason: NO_WAIT
    },
    {
      test: 'a synchronous write comes before what functions call while it waits for earlier ones',
      reason: NO_WAIT
    },
    {
      test: 'after close() nothing more is written, though it still waits for earlier writes',
      reason: NO_WAIT
    },
    { test: 'a synchronous write does not hold up the event loop', reason: NO_WAIT },
    {
      test: 'of calls that wait together, one that cannot be written fails alone',
      reason: "it takes the engine's limit of keys for everyone's"
    }
  ],
  ttl: [{ test: 'histories at random with a view', reason: 'it takes minutes', is: 'left out' }]
}
