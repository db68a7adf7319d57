// TypeScript in CommonJS projects: with module node16, which does not allow them to import ES modules, and with others.

import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { expectOutput, node, Projects, root } from '../../support/projects.mjs'
import { OUTPUT, program } from './support/program.js'
import { makeProject } from './support/project.js'

const projects = new Projects()
after(() => projects.remove())

let directory
before(() => {
  const source = program('<string, { n: number }>')
  directory = makeProject(projects, { 'program.ts': source, 'script.cts': source, 'module.mts': source })
})

/** Compiles with these compiler options, and runs the result. */
function compileAndRun(options) {
  const compilerOptions = {
    target: 'ES2022',
    strict: true,
    outDir: 'out',
    types: ['node'],
    typeRoots: [join(root, 'node_modules', '@types')],
    ...options
  }
  rmSync(join(directory, 'out'), { recursive: true, force: true })
  writeFileSync(
    join(directory, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, include: ['*.ts', '*.?ts'] })
  )
  const { stdout, status } = node(
    directory,
    join(root, 'node_modules', 'typescript', 'bin', 'tsc'),
    '-p',
    '.'
  )
  assert.equal(stdout, '')
  assert.equal(status, 0)

  for (const file of ['program.js', 'script.cjs', 'module.mjs']) {
    expectOutput(directory, join('out', file), OUTPUT)
    rmSync(join(directory, 'db'), { recursive: true })
  }
}

for (const options of [
  { module: 'node16' },
  { module: 'nodenext' },
  { module: 'commonjs', moduleResolution: 'bundler' },
  { module: 'node16', skipLibCheck: false, exactOptionalPropertyTypes: true }
]) {
  test(`a CommonJS project compiles and runs with ${JSON.stringify(options)}`, () => compileAndRun(options))
}

/** A program for pages: TypeScript must know what only a browser's `Level` has, and refuse what only Node's has. */
const PAGE = `
import { Level, MemoryLevel, type Storage } from 'terrace'

const db = new Level<string, number>('db', { storage: ['opfs', 'memory'], shared: true, valueEncoding: 'json' })
export const storage: Storage | undefined = db.storage
export const isOwner: boolean = db.isOwner
export const files: AsyncGenerator<File, void, void> = db.export()
export const imported: Promise<void> = Level.import('copy', db.export())
export const memory = new MemoryLevel<string, number>({ valueEncoding: 'json' })
// @ts-expect-error A page has no read-only databases.
new Level('db', { readOnly: true })
`

const NODE = `
import { Level } from 'terrace'

const db = new Level<string, number>('db', { readOnly: true })
export const refreshed: Promise<void> = db.refresh()
// @ts-expect-error Only a browser chooses among places.
export const storage = db.storage
`

for (const [what, source, options] of [
  ['a page with moduleResolution bundler has the types of browsers', PAGE, { moduleResolution: 'bundler' }],
  [
    'one that names the browser has them too',
    PAGE,
    { moduleResolution: 'bundler', customConditions: ['browser'] }
  ],
  [
    'a program for Node with moduleResolution bundler names Node',
    NODE,
    { moduleResolution: 'bundler', customConditions: ['node'] }
  ],
  ['a program for Node with module nodenext has the types of Node', NODE, { module: 'nodenext' }]
]) {
  test(what, () => {
    writeFileSync(join(directory, 'types.mts'), source)
    const compilerOptions = {
      module: 'ESNext',
      target: 'ES2022',
      lib: ['ES2023', 'DOM'],
      strict: true,
      noEmit: true,
      skipLibCheck: false,
      types: ['node'],
      typeRoots: [join(root, 'node_modules', '@types')],
      ...options
    }
    writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['types.mts'] }))
    const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
    const { stdout, status } = node(directory, tsc, '-p', '.')
    rmSync(join(directory, 'types.mts'))
    assert.equal(stdout, '')
    assert.equal(status, 0)
  })
}
