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
