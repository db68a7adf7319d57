// An S3 server for tests, moto, behind a proxy that counts requests and injects faults.

import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../../../../tests/support/free-port.mjs'
import { until } from '../../../../../tests/support/waiting.mjs'
import { FaultyProxy } from './faulty-proxy.js'

const MOTO = fileURLToPath(new URL('../../../../../target/moto/bin/moto_server', import.meta.url))

/** Why tests with a store cannot run; undefined if they can. */
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

  /**
   * @param buckets - The names of its buckets. A listing in moto takes time in proportion to the whole bucket.
   */
  static async start({ buckets = ['bucket'] } = {}) {
    const store = new Store()
    const port = await freePort()
    store.#port = port
    store.#buckets = buckets
    store.#server = spawn(MOTO, ['-H', '127.0.0.1', '-p', `${port}`], { stdio: 'ignore' })
    // It must not outlive a test that fails before stopping it.
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

  /** The options with which a database finds the store, through the proxy. */
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

  /** The secret, which must never be shown. */
  get secret() {
    return SECRET
  }

  stop() {
    this.proxy.stop()
    this.#server.kill('SIGKILL')
  }
}
