// Programs that use Level, run by any browser's driver in a page or in a worker.

import { engineFiles } from './engine-site.js'

/** Each is a function for the page, which runs the `run()` of a script there or in a worker, and resolves with its result. */
export const PLACES = {
  page: (path) => import(path).then(({ run }) => run()),
  worker: (path) =>
    new Promise((resolve, reject) => {
      const worker = new Worker('/terrace/runner.js', { type: 'module' })
      worker.onmessage = ({ data }) =>
        data.error === undefined ? resolve(data.result) : reject(new Error(data.error))
      worker.onerror = (event) => reject(new Error(event.message))
      worker.postMessage(path)
    })
}

/** The worker that does so. */
const RUNNER = `
  addEventListener('message', ({ data: path }) => {
    import(path).then(({ run }) => run()).then(
      (result) => postMessage({ result }),
      (error) => postMessage({ error: (error.cause?.code ?? error.code) + ' ' + error.stack })
    )
  })
`

/** The files of the package, and what the places need. */
export const placeFiles = { ...engineFiles, '/terrace/runner.js': RUNNER }

/** A script that uses a database in all ways. `options` are more of it, as source that begins with a comma. */
export const useProgram = (options) => `
  import { Level } from '/terrace/terrace.js'
  export async function run() {
    const db = new Level('use', { valueEncoding: 'json' ${options} })
    await db.put('a', { n: 1 })
    const before = db.snapshot()
    await db.batch([{ type: 'put', key: 'b', value: { n: 2 } }, { type: 'del', key: 'a' }], { sync: true })
    await db.sublevel('names').put('é', 'ü')
    const result = [await db.iterator({ snapshot: before }).all(), await db.get('b'), await db.keys().all()]
    await before.close()
    await db.close()
    await db.open()
    await db.clear({ gte: 'b' })
    result.push(await db.keys().all(), db.storage)
    await db.clear()
    await db.close()
    return result
  }
`

/** What it finds. */
export const used = (storage) => [[['a', { n: 1 }]], { n: 2 }, ['!names!é', 'b'], ['!names!é'], storage]

/** A function for a page: writes an entry of a database that tabs share. Resolves with whether the page leads, and all keys. */
export const putShared = async (key) => {
  const { Level } = await import('/terrace/terrace.js')
  globalThis.db ??= new Level('shared')
  await globalThis.db.put(key, 'value')
  return [globalThis.db.isOwner, await globalThis.db.keys().all()]
}
