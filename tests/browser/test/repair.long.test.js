// Level.repair in a dedicated worker and in a page: damaged databases on OPFS open again, with their entries.
//
// Long: a dozen databases are filled, damaged and repaired.

import assert from 'node:assert/strict'
import { useBrowser } from './support/browser.js'
import { engineFiles } from './support/engine-site.js'
import { test } from './support/patient-test.js'
import { ENGINE_POLICY, serveSite } from './support/site.js'
import { run, siteOf } from './support/worker-site.js'

const openPage = useBrowser()

const ENTRIES = 4000

/** What a worker and a page do alike. */
const FUNCTIONS = `
  const key = (number) => 'key ' + String(number).padStart(6, '0')
  const value = (number) => number + ' ' + 'xyz'.repeat((number * 7919) % 100)

  export async function fill(name) {
    const db = new Level(name, { writeBufferSize: 64 << 10 })
    for (const values of [() => 'old', value]) {
      for (let start = 0; start < ${ENTRIES}; start += 100) {
        const put = (_, index) => ({ type: 'put', key: key(start + index), value: values(start + index) })
        await db.batch(Array.from({ length: 100 }, put))
      }
    }
    // It stays in the log.
    await db.put('last', 'of all')
    await db.close()
  }

  /** Changes the one file whose beginning is like this, or the map of files. */
  export async function damage(name, pattern, change) {
    const root = await navigator.storage.getDirectory()
    const directory = await root.getDirectoryHandle(encodeURIComponent(name) + '.terrace')
    const found = []
    for await (const [number, handle] of directory.entries()) {
      const bytes = new Uint8Array(await (await handle.getFile()).arrayBuffer())
      const beginning = number === '0' ? 'the map of files' : new TextDecoder('latin1').decode(bytes.subarray(0, 200))
      if (new RegExp(pattern).test(beginning)) found.push([handle, bytes])
    }
    if (found.length !== 1) throw new Error(found.length + ' files are like ' + pattern)
    const [[handle, bytes]] = found
    const writer = await handle.createWritable()
    const changes = {
      empty: () => new Uint8Array(0),
      start: () => bytes.fill(0xa5, 0, 20),
      middle: () => bytes.fill(0xa5, bytes.length >> 1, (bytes.length >> 1) + 10),
      all: () => bytes.fill(0xa5)
    }
    await writer.write(changes[change]())
    await writer.close()
  }

  /** Why the database cannot be opened, or what is wrong with its entries. */
  export async function look(name) {
    const db = new Level(name, { createIfMissing: false })
    try {
      await db.open()
    } catch ({ cause }) {
      return [cause.code, cause.message]
    }
    const entries = await db.iterator().all()
    await db.put('written after', 'all')
    await db.del('written after')
    await db.close()
    const expected = Array.from({ length: ${ENTRIES} }, (_, number) => [key(number), value(number)])
    expected.push(['last', 'of all'])
    const wrong = expected.filter(([key, value], index) => entries[index]?.[0] !== key || entries[index][1] !== value)
    return { entries: entries.length, wrong: wrong.length }
  }

  export const repair = (name, options) => Level.repair(name, options)

  export async function names() {
    const root = await navigator.storage.getDirectory()
    const names = []
    for await (const name of root.keys()) names.push(name)
    return names
  }

  /** Puts the files of an export in the place of a database. Returns the sizes of all files before and after. */
  export async function renew(name) {
    const size = async () => {
      const root = await navigator.storage.getDirectory()
      let sizeBytes = 0
      for await (const file of (await root.getDirectoryHandle(encodeURIComponent(name) + '.terrace')).values()) {
        sizeBytes += (await file.getFile()).size
      }
      return sizeBytes
    }
    const before = await size()
    const db = new Level(name)
    const files = []
    for await (const file of db.export()) files.push(file)
    await db.close()
    await Level.import(name, files, { overwrite: true })
    return [before, await size()]
  }

  let db
  export function hold(name) {
    db = new Level(name)
    return db.open()
  }
  export const letGo = () => db.close()
`

/** A page, and what calls the functions: in a worker, or in the page. */
async function sides(t) {
  const inPage = `import { Level } from './terrace/terrace.js'\n${FUNCTIONS}`
  const files = { ...siteOf(FUNCTIONS), ...engineFiles, '/in-page.js': inPage }
  const page = await openPage(t, await serveSite(t, files, ENGINE_POLICY))
  const inThePage = (name, ...args) =>
    page.evaluate(
      async ([name, args]) => {
        const functions = await import('/in-page.js')
        try {
          return await functions[name](...args)
        } catch (error) {
          throw new Error(`${error.code}: ${error.message}`)
        }
      },
      [name, args]
    )
  return { worker: (name, ...args) => run(page, name, args), page: inThePage, problems: page.problems }
}

/** What the beginning of the file is like, and what happens to it. */
const DAMAGE = {
  'an empty MANIFEST': ['leveldb.BytewiseComparator', 'empty'],
  'a MANIFEST whose beginning is damaged': ['leveldb.BytewiseComparator', 'start'],
  'a MANIFEST that is damaged in the middle': ['leveldb.BytewiseComparator', 'middle'],
  'a CURRENT that is damaged': ['^MANIFEST-', 'all']
}

for (const side of ['worker', 'page']) {
  test(`a database with a damaged MANIFEST or CURRENT is repaired by a ${side}, and has its entries`, async (t) => {
    const { [side]: call, problems } = await sides(t)
    for (const [what, [pattern, change]] of Object.entries(DAMAGE)) {
      await call('fill', what)
      await call('damage', what, pattern, change)
      const [code, message] = await call('look', what)
      assert.equal(code, 'LEVEL_CORRUPTION', what)
      assert.match(message, /Level\.repair\(\) restores what can be read/, what)
      const report = await call('repair', what)
      assert.equal(report.lostBytes, 0, `${what}: ${report.text}`)
      assert.ok(report.entriesKept > ENTRIES, `${what}: ${report.text}`)
      assert.match(report.text, /MANIFEST|CURRENT/, what)
      assert.deepEqual(await call('look', what), { entries: ENTRIES + 1, wrong: 0 }, what)
    }
    assert.deepEqual(problems, [])
  })

  test(`a ${side} repairs a database that is not damaged, and loses nothing`, async (t) => {
    const { [side]: call } = await sides(t)
    await call('fill', 'sound')
    const { nothingLost, lostBytes } = await call('repair', 'sound', { storage: 'opfs' })
    assert.deepEqual([nothingLost, lostBytes], [true, 0])
    assert.deepEqual(await call('look', 'sound'), { entries: ENTRIES + 1, wrong: 0 })
  })

  test(`a ${side} is told why it cannot repair what is missing, or in another place`, async (t) => {
    const { [side]: call } = await sides(t)
    await assert.rejects(call('repair', 'missing'), /LEVEL_DATABASE_MISSING: There is no database/)
    assert.ok(!(await call('names')).includes('missing.terrace'))
    const refused = /LEVEL_NOT_SUPPORTED: A database in 'indexeddb' .* Level\.destroy\(\) removes it/
    await assert.rejects(call('repair', 'elsewhere', { storage: 'indexeddb' }), refused)
    await assert.rejects(call('repair', 'elsewhere', { storage: 'nowhere' }), /must be one or more of/)
  })
}

test('what a repair has set aside gives its space back when an export takes the place of the database', async (t) => {
  const { page } = await sides(t)
  await page('fill', 'space')
  await page('damage', 'space', ...DAMAGE['an empty MANIFEST'])
  assert.match((await page('repair', 'space')).text, /moved to lost/)
  const [before, after] = await page('renew', 'space')
  assert.ok(after < 0.7 * before, `${after} of ${before} bytes`)
  assert.deepEqual(await page('look', 'space'), { entries: ENTRIES + 1, wrong: 0 })
})

test('a database is not repaired while a worker or a page has it open', async (t) => {
  const { worker, page } = await sides(t)
  await worker('hold', 'in a worker')
  await assert.rejects(worker('repair', 'in a worker'), /LEVEL_LOCKED/)
  await assert.rejects(page('repair', 'in a worker'), /LEVEL_LOCKED/)
  await worker('letGo')
  await page('hold', 'in a page')
  await assert.rejects(worker('repair', 'in a page'), /LEVEL_LOCKED/)
  await assert.rejects(page('repair', 'in a page'), /LEVEL_LOCKED/)
  await page('letGo')
  assert.equal((await page('repair', 'in a page')).nothingLost, true)
})

test('a repair of a database whose map of files is damaged twice says so, and changes nothing', async (t) => {
  const { worker } = await sides(t)
  await worker('fill', 'map')
  await worker('damage', 'map', 'the map of files', 'all')
  const [code, message] = await worker('look', 'map')
  assert.equal(code, 'LEVEL_CORRUPTION')
  assert.doesNotMatch(message, /repair/)
  await assert.rejects(worker('repair', 'map'), ({ message: told }) =>
    told.includes(`LEVEL_CORRUPTION: ${message}`)
  )
  assert.deepEqual(await worker('look', 'map'), [code, message])
})
