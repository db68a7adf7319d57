import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The root of the repository. */
export const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..')

/** What the builds leave between two runs. `scripts/setup prebuilds` puts the tools there. */
export const work = join(root, 'target', 'prebuilds')

export const tools = join(work, 'tools', 'bin')
