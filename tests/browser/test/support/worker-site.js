// A site whose worker uses Level: the functions of a test's module are called in it by name.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { until } from '../../../support/waiting.mjs'

const module = fileURLToPath(import.meta.resolve('terrace/browser'))

/** The engine. */
export const wasm = readFileSync(join(module, '..', 'terrace.wasm'))

/** The files of a site whose worker runs the functions of this module. */
export function siteOf(functions) {
  return {
    '/terrace.js': readFileSync(module),
    '/terrace.wasm': wasm,
    '/terrace-indexeddb.js': readFileSync(join(module, '..', 'terrace-indexeddb.js')),
    '/functions.js': `import { Level } from './terrace.js'\n${functions}`,
    '/worker.js': `
      import * as functions from './functions.js'
      addEventListener('message', async ({ data: [name, ...args] }) => {
        try {
          postMessage({ result: await functions[name](...args) })
        } catch (error) {
          postMessage({ error: (error.code ?? error.name) + ': ' + error.message + ' ' + (error.cause?.code ?? '') })
        }
      })
    `
  }
}

/** Runs a function in the worker of this number, which is started if necessary. */
export function run(page, name, args = [], number = 0) {
  return page.evaluate(
    ([name, args, number]) =>
      new Promise((resolve, reject) => {
        globalThis.workers ??= []
        globalThis.workers[number] ??= new Worker('/worker.js', { type: 'module' })
        const worker = globalThis.workers[number]
        worker.onmessage = ({ data }) => (data.error ? reject(new Error(data.error)) : resolve(data.result))
        worker.onerror = (event) => reject(new Error(event.message))
        worker.postMessage([name, ...args])
      }),
    [name, args, number]
  )
}

/** Runs a function in a new worker once the browser has unlocked the files of the one terminated before. */
export async function runAfter(page, name, args, number) {
  let result
  await until(async () => {
    try {
      result = await run(page, name, args, number)
      return true
    } catch (error) {
      if (!error.message.includes('LEVEL_LOCKED')) throw error
    }
  }, 'the files of the worker before')
  return result
}
