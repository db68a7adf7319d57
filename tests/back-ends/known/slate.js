// The tests of terrace-core and of the toolbox that do not hold for databases of SlateDB: none.

/** @type {Record<string, import('../../support/known.mjs').Known[]>} */
export const known = {}
