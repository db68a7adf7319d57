// Gives terrace-cli the list of platforms of terrace's loader: their sources are one file, but neither package needs the other.
//
//   node scripts/share-platforms.mjs

import { copyFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const from = new URL('../packages/terrace/src/platform.ts', import.meta.url)
copyFileSync(fileURLToPath(from), fileURLToPath(new URL('../packages/cli/src/platform.ts', import.meta.url)))
