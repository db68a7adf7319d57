/** `report`: prints the tables of earlier results. */

import { reportOf } from '../report.js'
import { readResults } from '../results.js'

/** @param {import('../options.js').Parsed} parsed */
export async function report({ values, positionals }) {
  console.log(reportOf(readResults(positionals), values.reference))
}
