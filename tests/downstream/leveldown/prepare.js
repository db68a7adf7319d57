// Makes target/leveldown-clients: the packages and programs of this directory, with our packages, as npm would publish them, in place
// of leveldown, leveldown-basho, leveldown-hyper and memdown. leveldown-original stays.

import { cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Projects, root } from '../../support/projects.mjs'

const here = fileURLToPath(new URL('.', import.meta.url))
const target = join(root, 'target', 'leveldown-clients')
const modules = join(target, 'node_modules')

/** A package that exports our memdown. `overrides` in a package.json maps names to packages, not to parts of them. */
const MEMDOWN = {
  'package.json': JSON.stringify({ name: 'memdown', version: '6.1.1', main: 'index.js' }),
  'index.js': "module.exports = require('terrace-leveldown/memory')\n"
}

const REPLACED = {
  leveldown: 'terrace-leveldown',
  'leveldown-basho': 'terrace-leveldown',
  'leveldown-hyper': 'terrace-leveldown',
  memdown: 'memdown'
}

rmSync(target, { recursive: true, force: true })
mkdirSync(target, { recursive: true })
for (const each of ['node_modules', 'programs', 'package.json']) {
  cpSync(join(here, each), join(target, each), { recursive: true, verbatimSymlinks: true })
}

// npm installs our packages in a project of their own. Links lead to them, as those of pnpm do.
const projects = new Projects()
try {
  const project = projects.make('terrace', { archives: projects.archivesOf('packages/leveldown') })
  cpSync(join(project, 'node_modules'), join(modules, '.terrace', 'node_modules'), { recursive: true })
} finally {
  projects.remove()
}

const ours = join(modules, '.terrace', 'node_modules')
mkdirSync(join(ours, 'memdown'))
for (const [file, text] of Object.entries(MEMDOWN)) writeFileSync(join(ours, 'memdown', file), text)
for (const [name, to] of Object.entries({ ...REPLACED, 'terrace-leveldown': 'terrace-leveldown' })) {
  rmSync(join(modules, name), { recursive: true, force: true })
  symlinkSync(join(ours, to), join(modules, name), 'junction')
}
// ganache brings its leveldown inside its archive, where npm's `overrides` do not reach.
rmSync(join(modules, 'ganache', 'node_modules', 'leveldown'), { recursive: true })
symlinkSync(
  join(ours, 'terrace-leveldown'),
  join(modules, 'ganache', 'node_modules', 'leveldown'),
  'junction'
)
