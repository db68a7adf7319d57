// Where terrace-leveldown keeps a database in a browser: in IndexedDB what level-js 6 has stored there, in files what is new.
//
// Long: the rule is a list of storages, which other tests open.

import assert from 'node:assert/strict'
import { fileURLToPath } from 'node:url'
import { useBrowser } from './support/browser.js'
import { bundleOf } from './support/bundles.js'
import { PLACES, placeFiles } from './support/level-places.js'
import { test } from './support/patient-test.js'
import { ENGINE_POLICY, serveSite } from './support/site.js'

const openPage = useBrowser()

// The module that the package brings, whose workers are beside the script.
const bundled = { terrace: fileURLToPath(import.meta.resolve('terrace/browser')) }

/** What bundlers of its time gave level-js. */
const LEVEL_JS = { define: { global: 'globalThis' } }

/** level-js 6, and what a program needs to use either. */
const HEAD = `
  import { Buffer } from 'buffer'
  import leveljs from 'level-js'
  import leveldown from 'terrace-leveldown'
  globalThis.Buffer = Buffer

  const call = (object, method, ...args) =>
    new Promise((resolve, reject) => {
      object[method](...args, (error, value) => (error ? reject(error) : resolve(value)))
    })
  const all = async (db) => {
    const iterator = db.iterator({ keyAsBuffer: false, valueAsBuffer: false })
    const found = []
    for await (const [key, value] of iterator) found.push(key + '=' + value)
    return found
  }
  /** Uses a database, and returns what it had, and where it is. */
  const used = async (make, location, value, options) => {
    const db = make(location, options)
    await call(db, 'open')
    await call(db, 'batch', [{ type: 'put', key: 'a', value }])
    const found = await all(db)
    const storage = db.level?.storage
    await call(db, 'close')
    return [found.join(), storage]
  }
  const names = async () => (await indexedDB.databases()).map(({ name }) => name).sort()
`

/** A program that uses both, with more options for ours. */
const program = (options) => `
  ${HEAD}
  export async function run() {
    const options = ${options}
    const result = {}
    for (const prefix of [undefined, 'app-']) {
      const both = { ...options, ...(prefix && { prefix }) }
      await used(leveljs, 'old', 'theirs', both)
      const seen = (result[prefix ?? 'default'] = {})
      seen.old = await used(leveldown, 'old', 'ours', both)
      seen.again = await used(leveldown, 'old', 'still', both)
      seen.theirs = (await used(leveljs, 'old', 'theirs', both))[0]
      seen.new = await used(leveldown, 'new' + prefix, 'new', both)
      seen.newAgain = await used(leveldown, 'new' + prefix, 'newer', both)
      const names1 = await names()
      for (const location of ['old', 'new' + prefix]) {
        await call(leveldown, 'destroy', location, ...(prefix ? [prefix] : []))
        await new Promise((resolve) =>
          leveldown(location, both).open({ createIfMissing: false }, (error) => {
            ;(seen.gone ??= []).push(error?.code)
            resolve()
          })
        )
      }
      seen.names = [names1, await names()]
      // What is made after a removal is new.
      seen.afterwards = await used(leveldown, 'old', 'new', both)
      await call(leveldown, 'destroy', 'old', ...(prefix ? [prefix] : []))
    }
    // Wherever it is, a storage that is named is used.
    result.named = await used(leveldown, 'named', 'x', { ...options, storage: 'indexeddb' })
    await call(leveldown, 'destroy', 'named')
    result.left = await names()
    return result
  }
`

const files = async (source) => ({
  ...placeFiles,
  ...Object.fromEntries(
    Object.entries(placeFiles).map(([path, text]) => [path.replace('/terrace/', '/'), text])
  ),
  '/program.js': await bundleOf(source, bundled, LEVEL_JS)
})

const seen = (prefix) => ({
  old: ['a=ours', 'indexeddb'],
  again: ['a=still', 'indexeddb'],
  theirs: 'a=theirs',
  new: ['a=new', 'opfs'],
  newAgain: ['a=newer', 'opfs'],
  gone: ['LEVEL_DATABASE_MISSING', 'LEVEL_DATABASE_MISSING'],
  names: [[`${prefix}old`], []],
  afterwards: ['a=new', 'opfs']
})

for (const [name, place, options] of [
  ['tabs share it', 'page', '{}'],
  ['a page alone', 'page', '{ shared: false }'],
  ['a worker alone', 'worker', '{}']
]) {
  test(`what level-js has stored stays in IndexedDB, and new databases are in files: ${name}`, async (t) => {
    const page = await openPage(t, await serveSite(t, await files(program(options)), ENGINE_POLICY))
    const result = await page.evaluate(PLACES[place], '/program.js')
    assert.deepEqual(result, {
      default: seen('level-js-'),
      'app-': seen('app-'),
      named: ['a=x', 'indexeddb'],
      left: []
    })
    assert.deepEqual(page.problems, [])
  })
}

test('a browser without a list of its databases, or without IndexedDB', async (t) => {
  const source = `
    ${HEAD}
    export async function run() {
      await used(leveljs, 'old', 'theirs')
      const { databases } = IDBFactory.prototype
      delete IDBFactory.prototype.databases
      const options = { shared: false }
      const result = [
        await used(leveldown, 'old', 'ours', options),
        await used(leveldown, 'new', 'new', options)
      ]
      IDBFactory.prototype.databases = databases
      result.push(await names())
      await call(leveldown, 'destroy', 'old')
      Object.defineProperty(globalThis, 'indexedDB', { value: undefined })
      result.push(await used(leveldown, 'new', 'newer', options))
      return result
    }
  `
  const page = await openPage(t, await serveSite(t, await files(source), ENGINE_POLICY))
  assert.deepEqual(await page.evaluate(PLACES.page, '/program.js'), [
    ['a=ours', 'indexeddb'],
    ['a=new', 'opfs'],
    ['level-js-old'],
    ['a=newer', 'opfs']
  ])
  assert.deepEqual(page.problems, [])
})
