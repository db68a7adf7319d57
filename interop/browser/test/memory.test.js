// MemoryLevel in a page: abstract-level's published suite, unmodified; the module that the package brings, in a page and in a worker;
// bundlers without plugins, from the archives that `npm run pack` makes.

import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { build as buildWithEsbuild } from 'esbuild'
import { build as buildWithVite } from 'vite'
import { Projects } from '../../../tests/support/projects.mjs'
import { useBrowser } from './support/browser.js'
import { bundleOf, tapeBundle } from './support/bundles.js'
import { ENGINE_POLICY, serveSite } from './support/site.js'
import { suiteModule } from './support/suite-module.js'

/** How many tests the suite registers for it today. abstract-level may add more. */
const TESTS = 1500

const openPage = useBrowser()
const projects = new Projects()
after(() => projects.remove())

const module = fileURLToPath(import.meta.resolve('terrace/browser'))
const wasm = readFileSync(join(module, '..', 'memory.wasm'))

/** Uses a database in all ways that a page would. */
const PROGRAM = `
  export async function use(MemoryLevel) {
    const db = new MemoryLevel({ valueEncoding: 'json' })
    await db.put('a', { n: 1 })
    const before = db.snapshot()
    await db.batch([{ type: 'put', key: 'b', value: { n: 2 } }, { type: 'del', key: 'a' }])
    const names = db.sublevel('names')
    await names.open()
    names.putSync('é', 'ü')
    const result = [
      await db.iterator({ snapshot: before }).all(),
      db.getSync('b'),
      await names.get('é'),
      [...(await db.getMany(['a', 'b']))].map((value) => value?.n ?? null)
    ]
    await before.close()
    await db.close()
    await db.open()
    result.push(await db.keys({ gte: 'b' }).all(), db.stats(), await db.approximateSize('b', 'c'))
    await db.close()
    await db.open({ maxSizeBytes: 60 })
    result.push(await db.put('c', 'x'.repeat(60)).catch((error) => error.code), await db.keys().all())
    await db.close()
    return result
  }
`

const RESULT = [
  [['a', { n: 1 }]],
  { n: 2 },
  'ü',
  [null, 2],
  ['b'],
  { entries: 2, sizeBytes: 51 },
  24,
  'LEVEL_SIZE_LIMIT',
  ['!names!é', 'b']
]

test("abstract-level's suite passes in a page", async (t) => {
  const suite = suiteModule("import { MemoryLevel } from 'terrace'", '(options) => new MemoryLevel(options)')
  const origin = await serveSite(
    t,
    { '/tape.js': await tapeBundle(), '/suite.js': await bundleOf(suite), '/memory.wasm': wasm },
    ENGINE_POLICY
  )
  const page = await openPage(t, origin)
  const lines = []
  page.on('console', (message) => lines.push(...message.text().split('\n')))
  await page.addScriptTag({ url: '/tape.js' })
  const registered = await page.evaluate(() => import('/suite.js').then(({ run }) => run()))
  const failed = lines.filter((line) => /^\s*not ok/.test(line))
  const passed = lines.filter((line) => /^\s*ok/.test(line))
  t.diagnostic(`${registered} tests registered, ${passed.length} assertions passed, ${failed.length} failed`)
  assert.deepEqual(failed, [])
  assert.deepEqual(page.problems, [])
  assert.ok(registered >= TESTS, `${registered} tests registered`)
  assert.ok(passed.length > registered, `${passed.length} assertions`)
})

test('the module of the package works in a page and in a worker', async (t) => {
  const files = {
    '/terrace.js': readFileSync(module),
    '/memory.wasm': wasm,
    '/use.js': PROGRAM,
    '/worker.js': `
      import { MemoryLevel } from './terrace.js'
      import { use } from './use.js'
      use(MemoryLevel).then((result) => postMessage(result))
    `
  }
  const page = await openPage(t, await serveSite(t, files, ENGINE_POLICY))
  const inPage = await page.evaluate(async () => {
    const [{ MemoryLevel }, { use }] = await Promise.all([import('/terrace.js'), import('/use.js')])
    return use(MemoryLevel)
  })
  assert.deepEqual(inPage, RESULT)
  const inWorker = await page.evaluate(
    () =>
      new Promise((resolve, reject) => {
        const worker = new Worker('/worker.js', { type: 'module' })
        worker.onmessage = ({ data }) => resolve(data)
        worker.onerror = reject
      })
  )
  assert.deepEqual(inWorker, RESULT)
  assert.deepEqual(page.problems, [])
})

test('where the file of the engine is missing, the open says so, and a later one finds it', async (t) => {
  const files = { '/terrace.js': readFileSync(module) }
  const page = await openPage(t, await serveSite(t, files, ENGINE_POLICY))
  const open = () =>
    page.evaluate(async () => {
      const { MemoryLevel } = await import('/terrace.js')
      globalThis.db ??= new MemoryLevel()
      return globalThis.db.open().then(
        () => globalThis.db.status,
        (error) => `${error.code}: ${error.cause.message}`
      )
    })
  assert.match(
    await open(),
    /^LEVEL_DATABASE_NOT_OPEN: .*memory\.wasm cannot be loaded: the server answers 404$/
  )
  files['/memory.wasm'] = wasm
  assert.equal(await open(), 'open')
})

let directory
before(() => {
  directory = projects.make('memory', {
    archives: projects.archivesOf('terrace'),
    files: {
      'use.js': PROGRAM,
      'program.js': `
        import { MemoryLevel } from 'terrace'
        import { use } from './use.js'
        globalThis.run = () => use(MemoryLevel)
      `,
      'index.html': '<script type="module" src="/program.js"></script>'
    }
  })
})

/** Each returns the files to serve, and which of them is the script. */
const bundlers = {
  async esbuild() {
    const { outputFiles, warnings } = await buildWithEsbuild({
      absWorkingDir: directory,
      entryPoints: ['program.js'],
      bundle: true,
      format: 'esm',
      write: false,
      logLevel: 'silent'
    })
    assert.deepEqual(warnings, [])
    return { script: '/program.js', files: { '/program.js': outputFiles[0].text, '/memory.wasm': wasm } }
  },
  async Vite() {
    await buildWithVite({ root: directory, logLevel: 'error', build: { emptyOutDir: true } })
    const assets = join(directory, 'dist', 'assets')
    const names = readdirSync(assets)
    const files = Object.fromEntries(
      names.map((name) => [`/assets/${name}`, readFileSync(join(assets, name))])
    )
    return { script: `/assets/${names.find((name) => name.endsWith('.js'))}`, files }
  }
}

for (const [name, bundle] of Object.entries(bundlers)) {
  test(`a bundle of ${name} works in a page`, async (t) => {
    const { script, files } = await bundle()
    const page = await openPage(t, await serveSite(t, files, ENGINE_POLICY))
    await page.addScriptTag({ url: script, type: 'module' })
    assert.deepEqual(await page.evaluate(() => globalThis.run()), RESULT)
    assert.deepEqual(page.problems, [])
  })
}
