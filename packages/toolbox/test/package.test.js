// The package as npm would publish it: every part that its manifest names can be imported, and is typed.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { packPackage } from '../../../scripts/pack-package.mjs'

const packageFolder = fileURLToPath(new URL('..', import.meta.url))
const packages = join(packageFolder, '..', '..', 'node_modules')

test('every part is in the package, with its types and without what is not needed', () => {
  const folder = mkdtempSync(join(tmpdir(), 'terrace-toolbox-package-'))
  try {
    const installed = join(folder, 'node_modules', 'terrace-toolbox')
    mkdirSync(installed, { recursive: true })
    execFileSync('tar', ['xf', packPackage(packageFolder, folder), '-C', installed, '--strip-components=1'])
    assert.deepEqual(readdirSync(installed).sort(), ['LICENSE', 'README.md', 'dist', 'package.json'])

    const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'))
    for (const name of Object.keys(manifest.dependencies)) {
      symlinkSync(join(packages, name), join(folder, 'node_modules', name))
    }

    const parts = Object.entries(manifest.exports).filter(([, files]) => typeof files === 'object')
    assert.ok(parts.length >= 7)
    for (const [part, files] of parts) {
      assert.ok(existsSync(join(installed, files.types)), `types of ${part}`)
      const name = `terrace-toolbox${part.slice(1)}`
      const program = `console.log(Object.keys(await import('${name}')).length > 0)`
      const output = execFileSync(process.execPath, ['--input-type=module', '-e', program], {
        cwd: folder,
        encoding: 'utf8'
      })
      assert.equal(output, 'true\n', name)
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
})
