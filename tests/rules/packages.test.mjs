// House rules about the packages for Node.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { dirname, join, relative, resolve } from 'node:path'
import test from 'node:test'
import { packagesIn } from '../../scripts/workspace.mjs'
import { files, root, text } from './tracked.mjs'

const packages = packagesIn()

/** What a module of ours imports: names of packages of ours, and paths. */
const IMPORT = /(?:from |import |import\(|require\()'(?<name>terrace(?:-[a-z]+)*|\.\.\/[^']+)(?:\/[^']*)?'/g

/** The packages of the workspace, other than `one`, that modules of it below `within` use. */
function usedBy(one, within) {
  const modules = files.filter(
    (file) => within.some((part) => file.startsWith(`${one.directory}/${part}/`)) && /\.m?[jt]s$/.test(file)
  )
  const used = modules.flatMap((file) =>
    [...text(file).matchAll(IMPORT)].flatMap(([, name]) => {
      const path = relative(root, resolve(root, dirname(file), name))
      return packages.filter((each) => each.name === name || path.startsWith(join(each.directory, '/')))
    })
  )
  return [...new Set(used)].filter((each) => each !== one)
}

test('make node tests every package', () => {
  const { stdout: parts } = spawnSync('make', ['--silent', 'parts'], { cwd: root, encoding: 'utf8' })
  const targets = parts
    .trim()
    .split('\n')
    .map((part) => `test-${part}`)
  const dry = ['--dry-run', 'TERRACE_BUILT=1', ...targets]
  const { stdout } = spawnSync('make', dry, { cwd: root, encoding: 'utf8' })
  const commands = [...stdout.matchAll(/^npm test --silent --workspace (\S+)/gm)]
  const tested = [...new Set(commands.map(([, directory]) => directory))]
  assert.deepEqual(tested.toSorted(), packages.map(({ directory }) => directory).toSorted())
})

test('the program terrace knows the back-ends that terrace-copy lists; if not: make registry', () => {
  assert.equal(text('crates/cli/src/back_ends.json'), text('packages/copy/back-ends.json'))
})

test('the compiler builds packages after those that they import', () => {
  for (const one of packages.filter(({ directory }) => files.includes(`${directory}/tsconfig.json`))) {
    const { references = [] } = JSON.parse(text(`${one.directory}/tsconfig.json`))
    assert.deepEqual(
      references.map(({ path }) => join(one.directory, path)).toSorted(),
      usedBy(one, ['src'])
        .map(({ directory }) => directory)
        .toSorted(),
      one.directory
    )
  }
})

test('one command of the compiler builds every package, and one checks the types in every test of them', () => {
  for (const [all, kinds] of [
    ['tsconfig.json', ['tsconfig.json', 'tsconfig.browser.json']],
    ['tsconfig.test.json', ['tsconfig.test.json']]
  ]) {
    const { references } = JSON.parse(text(all))
    const named = references.map(({ path }) => (path.endsWith('.json') ? path : `${path}/tsconfig.json`))
    const projects = packages.flatMap(({ directory }) => kinds.map((kind) => `${directory}/${kind}`))
    assert.deepEqual(named.toSorted(), projects.filter((file) => files.includes(file)).toSorted())
  }
})

test('a manifest names the packages that its tests use: npm test builds these', () => {
  for (const one of packages) {
    const { dependencies, devDependencies, peerDependencies } = one.manifest
    const named = { ...dependencies, ...devDependencies, ...peerDependencies, [one.name]: one }
    const used = usedBy(one, ['src', 'test']).map(({ name }) => name)
    assert.deepEqual(
      used.filter((name) => !(name in named)),
      [],
      one.directory
    )
  }
})
