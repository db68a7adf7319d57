// The example of a live page: two pages and the program stay in step, and the page shows the state of its
// connection.
//
// Long: an example, with a server that ends and starts.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { useBrowser } from './support/browser.js'
import { test } from './support/patient-test.js'

const openPage = useBrowser()
const program = fileURLToPath(new URL('../../../examples/live-page/serve.mjs', import.meta.url))

/** Starts the program. Resolves with the process and the address of the page. */
async function start(t, port, directory) {
  const child = spawn(process.execPath, [program, port, directory], { stdio: ['pipe', 'pipe', 'inherit'] })
  t.after(() => child.kill('SIGKILL'))
  const [line] = await once(createInterface({ input: child.stdout }), 'line')
  return { child, url: line.replace('open ', '') }
}

async function stop({ child }) {
  child.kill('SIGTERM')
  await once(child, 'exit')
}

/** Keeps a picture of the page if the variable PICTURES names a directory. */
async function picture(page, name) {
  const directory = process.env.PICTURES
  if (directory === undefined) return
  // What moves has arrived then.
  await page.waitForTimeout(700)
  await page.screenshot({ path: join(directory, `${name}.png`) })
}

const state = (page, text) => page.locator('#state', { hasText: text }).waitFor()
const tasks = (page) =>
  page
    .locator('li')
    .allInnerTexts()
    .then((texts) => texts.map((text) => text.split('\n')[0]))

test('the live page follows the program and other pages, and says how its connection is', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'terrace-live-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  let running = await start(t, '0', directory)
  const [left, right] = [await openPage(t, running.url), await openPage(t, running.url)]
  for (const page of [left, right]) await state(page, 'Live')
  await left.getByText('Nothing to do').waitFor()
  await picture(left, 'empty')

  await left.getByLabel('New task').fill('Prune the apple tree')
  await left.getByRole('button', { name: 'Add' }).click()
  await right.getByText('Prune the apple tree').waitFor()
  running.child.stdin.write('Water the pears\nPick the <b>cherries</b>\n')
  for (const page of [left, right]) {
    await page.getByText('Water the pears').waitFor()
    await page.getByText('Pick the <b>cherries</b>').waitFor()
  }
  await right.getByLabel('Prune the apple tree', { exact: true }).check()
  await left.locator('li:has(:checked)', { hasText: 'Prune the apple tree' }).waitFor()
  await left.getByText('2 of 3 to do').waitFor()
  await picture(left, 'filled')
  await left.setViewportSize({ width: 340, height: 640 })
  await left.emulateMedia({ colorScheme: 'dark' })
  await picture(left, 'dark')
  await right.getByRole('button', { name: 'Remove Water the pears' }).click()
  await left.getByText('Water the pears').waitFor({ state: 'detached' })

  await stop(running)
  for (const page of [left, right]) await state(page, 'Reconnecting')
  assert.ok(await left.getByRole('button', { name: 'Add' }).isDisabled())
  await picture(right, 'reconnecting')
  running = await start(t, new URL(running.url).port, directory)
  for (const page of [left, right]) await state(page, 'Live')
  running.child.stdin.write('Mow the meadow\n')
  for (const page of [left, right]) {
    await page.getByText('Mow the meadow').waitFor()
    assert.deepEqual(await tasks(page), await tasks(left))
    assert.equal((await tasks(page)).length, 3)
  }

  const refused = await openPage(t, running.url.replace(/#.*/, '#ws://127.0.0.1:9/'))
  await state(refused, 'No connection')
  await refused.getByText("option 'origins' of the server").waitFor()
  await picture(refused, 'refused')
  await stop(running)
})
