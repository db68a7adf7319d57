// Two versions of a site are open at the same time, whose versions of the package use different protocols.
//
// Long: pages that are frozen and resumed, two versions of a site.

import assert from 'node:assert/strict'
import { fileURLToPath } from 'node:url'
import { freeze, thaw, useBrowser } from './support/browser.js'
import { bundleOf } from './support/bundles.js'
import { engineFiles } from './support/engine-site.js'
import { test } from './support/patient-test.js'
import { ENGINE_POLICY, serveSite } from './support/site.js'

const openPage = useBrowser()

const directory = fileURLToPath(new URL('browser/', import.meta.resolve('terrace')))

/** The scripts of a site whose package has this version of what is said, in a directory. */
async function versionOf(version, at) {
  const build = async (contents) => {
    const script = await bundleOf(contents)
    const [declared, ...more] = script.match(/\bVERSION = \d+;/g)
    assert.deepEqual(more, [])
    return script.replace(declared, `VERSION = ${version};`)
  }
  return {
    [`${at}terrace.js`]: await build(`export { Level } from ${JSON.stringify(`${directory}index.js`)}`),
    [`${at}terrace-worker.js`]: await build(`import ${JSON.stringify(`${directory}tabs/worker/worker.js`)}`),
    [`${at}terrace-broker.js`]: engineFiles['/terrace/terrace-broker.js'],
    [`${at}terrace.wasm`]: engineFiles['/terrace/terrace.wasm']
  }
}

/** A page of the version in a directory, and what it does with a database. */
async function pageOf(t, origin, at) {
  const page = await openPage(t, origin)
  await page.evaluate(async (at) => {
    const { Level } = await import(`${at}terrace.js`)
    const told = (error) => `${(error.cause ?? error).code}: ${(error.cause ?? error).message}`
    Object.assign(globalThis, {
      make: (name) => {
        globalThis.db = new Level(name)
        return globalThis.db.open().then(() => 'open', told)
      },
      call: (method, ...args) => globalThis.db[method](...args).catch(told),
      keys: () => globalThis.db.keys().all().catch(told)
    })
  }, at)
  return {
    page,
    open: (name) => page.evaluate((name) => globalThis.make(name), name),
    call: (...args) => page.evaluate((args) => globalThis.call(...args), args),
    keys: () => page.evaluate(() => globalThis.keys()),
    close: () => page.evaluate(() => globalThis.db.close())
  }
}

const LOCKED = /^LEVEL_LOCKED: Another version of this site has the database open.*reload/

/** A site that keeps the scripts of both versions, as bundlers name them. */
async function siteOfBoth(t) {
  const files = { ...(await versionOf(100, '/old/')), ...(await versionOf(101, '/new/')) }
  return serveSite(t, files, ENGINE_POLICY)
}

for (const [first, second] of [
  ['/old/', '/new/'],
  ['/new/', '/old/']
]) {
  test(`while ${first} has a database open, ${second} is told to reload, and has it afterwards`, async (t) => {
    const origin = await siteOfBoth(t)
    const [leader, same] = [await pageOf(t, origin, first), await pageOf(t, origin, first)]
    assert.equal(await leader.open('turns'), 'open')
    assert.equal(await same.open('turns'), 'open')
    const other = await pageOf(t, origin, second)
    assert.match(await other.open('turns'), LOCKED)
    // The other tabs are not disturbed.
    await leader.call('put', 'a', 'leader')
    await same.call('put', 'b', 'same')
    assert.deepEqual(await leader.keys(), ['a', 'b'])
    // The next one is of the same version.
    await leader.page.close()
    // A write before that may fail with LEVEL_LEADER_LOST.
    await same.page.waitForFunction(() => globalThis.db.isOwner)
    await same.call('put', 'c', 'same')
    assert.match(await other.open('turns'), LOCKED)
    await same.close()
    assert.equal(await other.open('turns'), 'open')
    assert.deepEqual(await other.keys(), ['a', 'b', 'c'])
    assert.match(await same.open('turns'), LOCKED)
  })
}

test('a page that was frozen while the site was renewed waits its turn, and sees what the new version has written', async (t) => {
  const origin = await siteOfBoth(t)
  const old = await pageOf(t, origin, '/old/')
  assert.equal(await old.open('frozen'), 'open')
  await old.call('put', 'old', 'value')
  await freeze(old.page)
  const renewed = await pageOf(t, origin, '/new/')
  assert.equal(await renewed.open('frozen'), 'open')
  await renewed.call('put', 'new', 'value')
  await thaw(old.page)
  assert.match(await old.call('put', 'refused', 'value'), LOCKED)
  assert.match(await old.call('get', 'new'), LOCKED)
  await renewed.call('put', 'newer', 'value')
  assert.deepEqual(await renewed.keys(), ['new', 'newer', 'old'])
  await renewed.close()
  // It leads as soon as it can.
  await old.page.evaluate(async () => {
    const isLocked = () =>
      globalThis.db.get('old').then(
        () => false,
        () => true
      )
    while (await isLocked()) await new Promise((resolve) => setTimeout(resolve, 20))
  })
  await old.call('put', 'later', 'value')
  assert.deepEqual(await old.keys(), ['later', 'new', 'newer', 'old'])
})

test("a page from before the site was renewed at the same addresses is told to reload, and stands in nobody's way", async (t) => {
  const files = await versionOf(100, '/site/')
  const origin = await serveSite(t, files, ENGINE_POLICY)
  const [leader, late] = [await pageOf(t, origin, '/site/'), await pageOf(t, origin, '/site/')]
  assert.equal(await leader.open('same place'), 'open')
  await leader.call('put', 'old', 'value')
  Object.assign(files, await versionOf(101, '/site/'))
  const renewed = await pageOf(t, origin, '/site/')
  assert.match(await renewed.open('same place'), LOCKED)
  await leader.close()
  // Its script is the old one, and the worker that it starts the new one.
  assert.match(await late.open('same place'), LOCKED)
  assert.equal(await renewed.open('same place'), 'open')
  assert.deepEqual(await renewed.keys(), ['old'])
  await late.page.reload()
  const reloaded = await pageOf(t, origin, '/site/')
  assert.equal(await reloaded.open('same place'), 'open')
  await reloaded.call('put', 'new', 'value')
  assert.deepEqual(await renewed.keys(), ['new', 'old'])
})
