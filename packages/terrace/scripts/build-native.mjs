// Builds the addon for this machine and puts it where `src/load-binding.ts` looks first.
//
//   node scripts/build-native.mjs [--debug]

import { addonFile, cargoBuild, putInPlace } from './cargo-build.mjs'
import { platformName } from './platform.mjs'

const profile = process.argv.includes('--debug') ? [] : ['--release']
// Words for cargo: what else is to be built. Built apart, it may want other features of a crate that both use, and the engine would be
// compiled twice.
const together = (process.env.TERRACE_BUILD_WITH ?? '').match(/\S+/g) ?? []
const library = cargoBuild('terrace-node', /\.(so|dylib|dll)$/, ...profile, ...together)
putInPlace(library, addonFile(platformName()))
