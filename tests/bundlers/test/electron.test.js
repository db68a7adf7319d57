// What Electron needs of a package with a native part. Electron's install script downloads the program, so it takes no part here.
// Instead, the tests apply the rules in which Electron differs from Node:
//
// - The main script and preload scripts are CommonJS, packed into one file in the format asar. The addon stays next to it, as
//   `electron-builder` and the plug-in auto-unpack-natives of `electron-forge` arrange it. `process.dlopen` finds it there.
// - `process.versions.electron` and `process.type` are set.
// - Node-API refuses to make buffers of memory that is not V8's: a house rule covers that (`tests/rules/layering.test.mjs`).

import assert from 'node:assert/strict'
import { cpSync, existsSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { expectOutput, node, Projects } from '../../support/projects.mjs'
import { OUTPUT, program } from './support/program.js'
import { makeProject } from './support/project.js'

const require = createRequire(import.meta.url)
const asar = require('@electron/asar')
const projects = new Projects()
after(() => projects.remove())

/** The program as CommonJS. */
const main = program().replace(/^import (\{.*\}) from ('.*')$/gm, 'const $1 = require($2)')

/** The rule of Electron's `process.dlopen`, and its marks. */
const AS_ELECTRON = `
  Object.defineProperty(process.versions, 'electron', { value: '40.0.0' })
  process.type = 'browser'
  const { dlopen } = process
  process.dlopen = (module, file, ...flags) =>
    dlopen.call(process, module, file.replace(/app\\.asar(?=[\\\\/])/, 'app.asar.unpacked'), ...flags)
`

let directory
before(() => {
  directory = makeProject(projects, { 'main.js': main }, { main: 'main.js', type: 'commonjs' })
})

test('an application that was packed with its addon apart works', async () => {
  const archive = join(projects.directory, 'app.asar')
  await asar.createPackageWithOptions(directory, archive, { unpack: '**/*.node' })

  const addons = asar.listPackage(archive).filter((file) => file.endsWith('.node'))
  assert.equal(addons.length, 1)
  assert.ok(existsSync(join(`${archive}.unpacked`, addons[0])))
  // Everything else can be read from the archive, without links to missing files.
  const other = asar.listPackage(archive).filter((file) => /terrace.*\.(js|mjs|json)$/.test(file))
  assert.ok(other.length > 50)
  for (const file of other) assert.ok(asar.extractFile(archive, file.slice(1)).length > 0, file)

  // In Electron, the archive is a directory to `require`, in which the unpacked files seem to be. What loads an addon takes the one
  // beside the archive. Here a directory stands for the archive, with the addon in it as an empty file that cannot be loaded.
  const mounted = join(projects.directory, 'mounted', 'app.asar')
  asar.extractAll(archive, mounted)
  cpSync(`${archive}.unpacked`, `${mounted}.unpacked`, { recursive: true })
  writeFileSync(join(mounted, addons[0]), '')
  const preload = join(projects.directory, 'as-electron.cjs')
  writeFileSync(preload, AS_ELECTRON)
  expectOutput(mounted, ['--require', preload, 'main.js'], OUTPUT)

  // The addon that lies beside the archive is the one that is loaded: without it, nothing works.
  writeFileSync(join(`${mounted}.unpacked`, addons[0]), '')
  const { status, stderr } = node(mounted, '--require', preload, 'main.js')
  assert.equal(status, 1)
  assert.match(stderr, /was found but failed to load/)
})
