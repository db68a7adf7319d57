// The files that build systems use to find the C library. `scripts/install-capi` fills in the same templates.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './paths.mjs'

/** A template of the C library's crate, with `values` in the places of their names. A name without a value is an error. */
export function fillTemplate(file, values) {
  const text = readFileSync(join(root, 'crates', 'capi', file), 'utf8')
  return text.replace(/@([a-z_]+)@/g, (place, name) => {
    if (!(name in values)) throw new Error(`${file}: nothing is known for ${place}`)
    return values[name]
  })
}
