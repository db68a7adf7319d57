// Builds the addon for this machine and puts it where `src/load-binding.ts` looks first.
//
//   node scripts/build-native.mjs [--debug]

import { addonFile, cargoBuild, putInPlace } from './cargo-build.mjs'
import { platformName } from './platform.mjs'

const profile = process.argv.includes('--debug') ? [] : ['--release']
const library = cargoBuild('terrace-node', /\.(so|dylib|dll)$/, ...profile)
putInPlace(library, addonFile(platformName()))
