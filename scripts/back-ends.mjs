// The back-ends that the repository lists: packages/copy/back-ends.json.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packagesIn, root } from './workspace.mjs'

const packages = packagesIn()

/** Each entry of the list, with the directory of its package. */
export const backEnds = Object.values(
  JSON.parse(readFileSync(join(root, 'packages/copy/back-ends.json'), 'utf8'))
).map((entry) => {
  const { directory } = packages.find(({ name }) => name === entry.package)
  return { ...entry, directory: join(root, directory) }
})
