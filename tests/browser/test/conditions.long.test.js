// Conditional writes in browsers: terrace-core's tests of them, of updates and of versions, over every storage, in pages and in workers.
//
// Long: many databases are opened in many places.

import assert from 'node:assert/strict'
import { useBrowser } from './support/browser.js'
import { coreConditions } from './support/core-conditions.js'
import { PLACES, placeFiles } from './support/level-places.js'
import { test } from './support/patient-test.js'
import { ENGINE_POLICY, PAGES, serveSite } from './support/site.js'

const openPage = useBrowser()

/** Databases, as source, and whether their entries have versions. */
const DATABASES = {
  'shared by tabs': ['new Level(location, { ...options, shared: true })', false],
  'of its own': ['new Level(location, { ...options, shared: false, storage: ["opfs", "memory"] })', false],
  'in files alone': ["new Level(location, { ...options, shared: false, storage: 'opfs' })", true],
  'in files alone, shared by tabs': [
    "new Level(location, { ...options, shared: true, storage: 'opfs' })",
    true
  ],
  'in IndexedDB, shared by tabs': [
    "new Level(location, { ...options, shared: true, storage: 'indexeddb' })",
    false
  ],
  'in IndexedDB': ["new Level(location, { ...options, shared: false, storage: 'indexeddb' })", false],
  'in memory, shared by tabs': [
    "new Level(location, { ...options, shared: true, storage: 'memory' })",
    false
  ],
  'of MemoryLevel': ['new MemoryLevel(options)', false]
}

/** How many tests there are at least: all, and those of versions. */
const LEAST = 20
const LEAST_OF_VERSIONS = 7

const program = (database, versions) => `
  import { Level, MemoryLevel } from '/terrace/terrace.js'

  globalThis.makeDatabase = (location, options) => ${database}

  export async function run() {
    const db = globalThis.makeDatabase('supports')
    const { conditionalWrites, versions } = db.supports
    await db.close()
    const { run } = await import('/conditions.js')
    return [conditionalWrites, versions, await run({ versions: ${versions} })]
  }
`

for (const [kind, headers] of Object.entries(PAGES)) {
  for (const [name, [database, versions]] of Object.entries(DATABASES)) {
    test(`terrace-core's tests of conditions pass in ${kind} and its workers over a database ${name}`, async (t) => {
      const files = {
        ...placeFiles,
        '/conditions.js': await coreConditions(),
        '/program.js': program(database, versions)
      }
      for (const [place, run] of Object.entries(PLACES)) {
        const page = await openPage(t, await serveSite(t, files, ENGINE_POLICY, headers))
        const [conditionalWrites, hasVersions, passed] = await page.evaluate(run, '/program.js')
        assert.equal(conditionalWrites, true, place)
        assert.equal(hasVersions, versions, place)
        const least = LEAST + (versions ? LEAST_OF_VERSIONS : 0)
        assert.ok(passed.length >= least, `${place}: ${passed.length} tests`)
        assert.deepEqual(page.problems, [], place)
      }
    })
  }
}

/** Databases whose calls reach the engine in different ways. */
const LARGE = ['in files alone', 'in files alone, shared by tabs', 'in IndexedDB', 'of MemoryLevel']

const largeProgram = (database) => `
  import { Level, MemoryLevel } from '/terrace/terrace.js'

  export async function run() {
    const [location, options] = ['large', { valueEncoding: 'view' }]
    const db = ${database}
    await db.open()
    const tried = (conditions, sync) =>
      db.put('done', new Uint8Array(1), { if: conditions, sync }).then(
        () => 'done',
        ({ code, conditions }) => [code, conditions]
      )
    const large = new Uint8Array(50 << 20).fill(1)
    const other = large.slice()
    other[other.length - 1] = 2
    await db.put('large', large)
    const results = [
      await tried([{ key: 'large', value: large }], true),
      await tried([{ key: 'large', value: other }])
    ]
    const keys = Array.from({ length: 20_000 }, (_, i) => 'key ' + i)
    await db.batch(keys.map((key) => ({ type: 'put', key, value: new Uint8Array(10) })))
    const exist = keys.map((key) => ({ key, exists: true }))
    results.push(await tried(exist), await tried([...exist, { key: 'none', exists: true }]))
    const snapshot = db.snapshot()
    results.push(await tried([{ gt: 'done', unchangedSince: snapshot }]))
    results.push(await tried([{ unchangedSince: snapshot }]))
    await snapshot.close()
    await db.close()
    return results
  }
`

for (const name of LARGE) {
  test(`large values and thousands of keys are checked in a database ${name}`, async (t) => {
    const files = { ...placeFiles, '/program.js': largeProgram(DATABASES[name][0]) }
    for (const [place, run] of Object.entries(PLACES)) {
      const page = await openPage(t, await serveSite(t, files, ENGINE_POLICY))
      assert.deepEqual(
        await page.evaluate(run, '/program.js'),
        [
          'done',
          ['LEVEL_CONFLICT', [0]],
          'done',
          ['LEVEL_CONFLICT', [20_000]],
          'done',
          ['LEVEL_CONFLICT', [0]]
        ],
        place
      )
      assert.deepEqual(page.problems, [], place)
    }
  })
}

test('conditions that are larger than a batch may be are refused', async (t) => {
  const program = `
    import { Level } from '/terrace/terrace.js'

    export async function run() {
      const db = new Level('refused', { storage: 'opfs', valueEncoding: 'view' })
      const condition = { key: 'a', value: new Uint8Array(50 << 20) }
      const refused = await db.put('a', new Uint8Array(1), { if: Array(11).fill(condition) }).catch(({ code }) => code)
      await db.put('a', new Uint8Array(1), { if: [{ key: 'a', exists: false }] })
      await db.close()
      return refused
    }
  `
  const page = await openPage(t, await serveSite(t, { ...placeFiles, '/program.js': program }, ENGINE_POLICY))
  assert.equal(await page.evaluate(PLACES.worker, '/program.js'), 'LEVEL_INVALID_ARGUMENT')
  assert.deepEqual(page.problems, [])
})
