// abstract-level's published suite over Level, for browsers where it takes long to hear of each line that a page prints: the lines are gathered.

import { bundleOf, tapeBundle } from './bundles.js'
import { suiteModule } from './suite-module.js'

/** If tape prints nothing for so long, a test hangs. */
const STALLED_MS = 5 * 60_000

/**
 * The files of a site whose `/terrace/suite.js` exports `run()`, which resolves with how many tests were registered and the lines that tape has
 * printed. If a test hangs, it rejects with the last of them.
 *
 * @param options - More options of each database, as source that begins with a comma.
 */
export async function levelSuite(options) {
  const head = `
    import { Level } from 'terrace'
    let made = 0
    const make = (options) => new Level('suite ' + made++, { ...options ${options} })
  `
  return {
    '/terrace/tape.js': await tapeBundle(),
    '/terrace/level-suite.js': await bundleOf(suiteModule(head, 'make')),
    '/terrace/suite.js': `
      import './tape.js'
      import { run as runSuite } from './level-suite.js'

      export function run() {
        let printed = ''
        return new Promise((resolve, reject) => {
          let stalled
          const waitOn = () => {
            clearTimeout(stalled)
            const fail = () => reject(new Error('the suite goes no further than: ' + printed.slice(-2000)))
            stalled = setTimeout(fail, ${STALLED_MS})
          }
          waitOn()
          globalThis.tape.createStream().on('data', (text) => {
            printed += text
            waitOn()
          })
          runSuite().then((registered) => {
            clearTimeout(stalled)
            resolve({ registered, lines: printed.split('\\n') })
          }, reject)
        })
      }
    `
  }
}
