// The database that the tests of terrace-core run over; see TERRACE_TEST_DATABASE there.

import { targets } from '../targets/index.js'

const [target] = targets
export const { name, supports } = target

export function Database(location, options) {
  return target.make(location, options)
}
