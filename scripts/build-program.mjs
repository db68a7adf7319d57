// Builds the program for this machine and puts it where terrace-cli looks first.
//
//   node scripts/build-program.mjs [--debug]

import { chmodSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { cargoBuild, putInPlace } from '../packages/terrace/scripts/cargo-build.mjs'
import { platformName } from '../packages/terrace/scripts/platform.mjs'
import { programFile } from './prebuilds/paths.mjs'

// The debug build is that of the tests, see `dev-build` in tests/all.mk.
const tests = ['--workspace', '--lib', '--bins', '--tests', '--examples']
const profile = process.argv.includes('--debug') ? tests : ['--release']
const built = cargoBuild('terrace-cli', /^terrace(\.exe)?$/, ...profile)
const place = programFile(platformName())
mkdirSync(dirname(place), { recursive: true })
putInPlace(built, place)
chmodSync(place, 0o755)
