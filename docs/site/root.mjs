// Where things are.

import path from 'node:path'
import { fileURLToPath } from 'node:url'

/** The root of the repository. */
export const root = fileURLToPath(new URL('../..', import.meta.url))

/** What VitePress reads: the pages with their links rewritten, and the reference. It is here because pages import `vue`. */
export const pagesDirectory = path.join(root, 'docs/site/.pages')

/** The built site. */
export const outDirectory = path.join(root, 'target/site')
