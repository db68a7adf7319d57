// An S3 server for tests, moto, with a proxy before it that counts requests and fails as it is told.

import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../../../../tests/support/free-port.mjs'
import { until } from '../../../../../tests/support/waiting.mjs'
import { FaultyProxy } from './faulty-proxy.js'

const MOTO = fileURLToPath(new URL('../../../../../target/moto/bin/moto_server', import.meta.url))

/** Why tests of a store cannot run; undefined if they can. */
export const missing = existsSync(MOTO)
  ? undefined
  : 'moto is missing, a server of S3: scripts/setup tests installs it'

const SECRET = 'SECRETofTHEtests'

/** A running store. */
export class Store {
  #server
  #port
  #buckets
  #made = 0

  /** @param buckets - The names of its buckets. A listing of moto takes as long as its whole bucket is large. */
  static async start({ buckets = ['bucket'] } = {}) {
    const store = new Store()
    const port = await freePort()
    store.#port = port
    store.#buckets = buckets
    store.#server = spawn(MOTO, ['-H', '127.0.0.1', '-p', `${port}`], { stdio: 'ignore' })
    // It must not outlive a test that fails before it has ended it.
    process.on('exit', () => store.#server.kill('SIGKILL'))
    store.proxy = await FaultyProxy.start(port)
    for (const bucket of buckets) await store.#created(`http://127.0.0.1:${port}/${bucket}`)
    return store
  }

  async #created(bucket) {
    await until(async () => {
      const response = await fetch(bucket, { method: 'PUT' }).catch((error) => error)
      return response.ok
    }, 'the store to answer')
  }

  /** The location of a new database, in the next bucket. */
  location() {
    const number = this.#made++
    return `s3://${this.#buckets[number % this.#buckets.length]}/databases/${number}`
  }

  /** What a database needs to find the store, by the proxy. */
  get options() {
    return this.#optionsAt(this.proxy.port)
  }

  /** The same without the proxy. */
  get directOptions() {
    return this.#optionsAt(this.#port)
  }

  #optionsAt(port) {
    return {
      storeOptions: {
        AWS_ACCESS_KEY_ID: 'tests',
        AWS_SECRET_ACCESS_KEY: SECRET,
        AWS_REGION: 'us-east-1',
        AWS_ENDPOINT: `http://127.0.0.1:${port}`,
        AWS_ALLOW_HTTP: 'true'
      }
    }
  }

  /** What nobody may be shown. */
  get secret() {
    return SECRET
  }

  stop() {
    this.proxy.stop()
    this.#server.kill('SIGKILL')
  }
}
