// Builds the site: `npm run build` here, or `make docs`.

import { fileURLToPath } from 'node:url'
import { build } from 'vitepress'
import { prepare } from './prepare.mjs'

await prepare()
await build(fileURLToPath(new URL('.', import.meta.url)))
