// What two checkers say of our packages as npm would publish them: publint, of manifests and what they name, and
// "are the types wrong", of what TypeScript and Node make of each entry. Every exception has its reason.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { isWorkshop, packAll } from '../../archives.mjs'

const attw = fileURLToPath(new URL('../node_modules/@arethetypeswrong/cli/dist/index.js', import.meta.url))

/** By the code of publint's message, the packages whose matter it is not. */
const LINT_EXCEPTIONS = {
  // Bundlers put another file in the place of one inside the package, which `exports` cannot say.
  USE_EXPORTS_OR_IMPORTS_BROWSER: /^terrace-(net|toolbox)$/,
  // Parcel reads this field; it reads `exports` only if configured to.
  USE_EXPORTS_BROWSER: /^terrace$/,
  // A package of a platform is one file, which is no JavaScript.
  USE_TYPE: /^@terrace-db\//
}

/** By the kind of problem, the entries that have it. */
const TYPE_EXCEPTIONS = {
  // What a page loads without a bundler is an ES module alone.
  CJSResolvesToESM: /^(terrace|terrace-net) \.\/browser$/
}

let packages
before((t) => {
  packages = packAll(t)
})

test('publint finds nothing', async () => {
  const found = []
  for (const { archive, directory, manifest } of packages) {
    const { messages } = await publint({ pkgDir: directory, strict: true, pack: false })
    const wanted = messages.filter(({ code }) => !LINT_EXCEPTIONS[code]?.test(manifest.name))
    if (manifest.name === 'terrace-net') assert.ok(wanted.length < messages.length, 'publint has looked')
    found.push(...wanted.map((message) => `${archive}: ${message.code} ${formatMessage(message, manifest)}`))
  }
  assert.deepEqual(found, [])
})

test('the types are those of what is loaded, from ES modules, CommonJS and bundlers', () => {
  const found = []
  let checked = 0
  for (const { archive, manifest } of packages) {
    const { stdout, stderr } = spawnSync(process.execPath, [attw, archive, '--format', 'json'], {
      encoding: 'utf8'
    })
    assert.notEqual(stdout, '', stderr)
    const { analysis } = JSON.parse(stdout)
    if (!analysis.types) continue
    checked++
    const problems = analysis.problems.filter(
      ({ kind, entrypoint }) => !TYPE_EXCEPTIONS[kind]?.test(`${manifest.name} ${entrypoint}`)
    )
    found.push(...problems.map((problem) => `${manifest.name}: ${JSON.stringify(problem)}`))
  }
  assert.deepEqual(found, [])
  const untyped = (each) => each.manifest.name.startsWith('@') || isWorkshop(each)
  assert.equal(checked, packages.filter((each) => !untyped(each)).length)
})
