// What the checks of the exercises have in common.

const harness = new URL('./harness.mjs', import.meta.url)

/** Calls a function several times with one database. */
export const repeatedHarness = new URL('./repeated-harness.mjs', import.meta.url)

/** What a program that opens a database must be allowed. */
export const allow = ['addons']

/** The example of an exercise whose function gets a database: what the command `run` shows for `data`, which the harness gets. */
export const exampleOf = (data) => ({ with: data, harness, allow })

/**
 * Calls the function of the learner and of the reference solution with the same data, each with a fresh database.
 *
 * @param {import('terrace-workshop-runner').CheckContext} context
 * @param {unknown} data - What the harness gets.
 * @param {object} [options] - Further options of `call`.
 * @returns {Promise<{ own: any, reference: any }>} What the harness returned for both.
 */
export async function callBoth({ submission, solution, call, makeDirectory }, data, options = {}) {
  const observe = (file) => call(file, { with: data, harness, allow, directory: makeDirectory(), ...options })
  return { own: await observe(submission), reference: await observe(solution) }
}

/** How many entries were read by walking over ranges. Entries read ahead, but outside of what was asked for, do not exist. */
export const entriesWalked = ({ cursors }) => cursors.reduce((sum, { delivered }) => sum + delivered, 0)

/**
 * Refuses a function that walks over more than the reference does.
 *
 * @param {{ own: any, reference: any }} both
 * @param {import('terrace-workshop-runner').CheckContext} context
 */
export function refuseLongWalk({ own, reference }, { refuse }) {
  const [walked, needed] = [own, reference].map(entriesWalked)
  if (walked <= needed) return
  refuse({
    en: `The result is right, but your function reads ${walked} entries, and ${needed} are enough. Give the iterator a range, so that the database reads nothing else.`,
    de: `Das Ergebnis stimmt, aber deine Funktion liest ${walked} Einträge, und ${needed} genügen. Gib dem Iterator einen Bereich, dann liest die Datenbank sonst nichts.`
  })
}

/** Refuses a function that leaves iterators or snapshots open. */
export function refuseOpenThings({ own }, { refuse }) {
  if (own.cursors.some(({ isClosed }) => !isClosed)) {
    refuse({
      en: 'Your function leaves an iterator open. An open iterator keeps old entries from being freed: for await closes it, otherwise call close().',
      de: 'Deine Funktion lässt einen Iterator offen. Ein offener Iterator hält alte Einträge fest: for await schließt ihn, sonst ruf close() auf.'
    })
  }
  if (own.snapshots.some(({ isClosed }) => !isClosed)) {
    refuse({
      en: 'Your function leaves a snapshot open. An open snapshot keeps old entries from being freed: close it in a finally block.',
      de: 'Deine Funktion lässt einen Snapshot offen. Ein offener Snapshot hält alte Einträge fest: Schließe ihn in einem finally-Block.'
    })
  }
}
