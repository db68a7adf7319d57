// abstract-level's published suite over Level, in any place of a browser.

import { bundleOf, tapeBundle } from './bundles.js'
import { suiteModule } from './suite-module.js'

/**
 * The files of a site whose `/terrace/suite.js` exports the `run()` of a {@link suiteModule}.
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
      export { run } from './level-suite.js'
    `
  }
}
