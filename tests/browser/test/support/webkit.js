// Debian's WebKitGTK, in its MiniBrowser, driven through WebDriver: it is close to Safari, and not Safari.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { after, before } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from '../../../support/free-port.mjs'
import { missingProgram } from './missing-program.js'

const DRIVER = process.env.WEBKIT_DRIVER ?? '/usr/bin/WebKitWebDriver'

/** It shows its windows on a screen, so it gets a virtual one. */
const SCREEN = process.env.XVFB ?? '/usr/bin/Xvfb'

/** The suite takes minutes. */
const SCRIPT_TIMEOUT_MS = 30 * 60_000

/** Why its tests cannot run; undefined if they can. */
export const missingWebKit = () =>
  missingProgram(DRIVER, 'webkit2gtk-driver', 'WEBKIT_DRIVER') ?? missingProgram(SCREEN, 'xvfb', 'XVFB')

/** Starts the driver before the tests of a file, and ends it after them. Returns a function that opens a window of a new browser for a test. */
export function useWebKit() {
  let driver
  before(async () => {
    driver = await Driver.start()
  })
  after(() => driver?.end())
  return (t, url) => driver.openWindow(t, url)
}

class Driver {
  #screen
  #process
  #address

  static async start() {
    const driver = new Driver()
    driver.#screen = spawn(SCREEN, ['-displayfd', '3', '-nolisten', 'tcp', '-screen', '0', '1024x768x24'], {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe']
    })
    const [number] = await once(driver.#screen.stdio[3], 'data')
    const port = await freePort()
    driver.#address = `http://127.0.0.1:${port}`
    driver.#process = spawn(DRIVER, ['--host=127.0.0.1', `--port=${port}`], {
      env: { ...process.env, DISPLAY: `:${String(number).trim()}`, GDK_BACKEND: 'x11' },
      stdio: 'ignore'
    })
    await driver.#ready()
    return driver
  }

  async #ready() {
    for (;;) {
      const isReady = await this.call('GET', '/status').then(
        ({ ready }) => ready,
        (error) => error.cause?.code !== 'ECONNREFUSED' && Promise.reject(error)
      )
      if (isReady) return
      if (this.#process.exitCode !== null) throw new Error(`${DRIVER} has ended`)
      await delay(50)
    }
  }

  /** Sends a command. Resolves with its value. */
  async call(method, path, body) {
    const response = await fetch(`${this.#address}${path}`, { method, body: body && JSON.stringify(body) })
    const { value } = await response.json()
    if (!response.ok) throw new Error(`${value.error}: ${value.message}`)
    return value
  }

  async openWindow(t, url) {
    const { sessionId } = await this.call('POST', '/session', { capabilities: { alwaysMatch: {} } })
    const session = (method, path, body) => this.call(method, `/session/${sessionId}${path}`, body)
    t.after(() => session('DELETE', ''))
    await session('POST', '/timeouts', { script: SCRIPT_TIMEOUT_MS })
    return Window.open(session, await session('GET', '/window'), url)
  }

  async end() {
    for (const process of [this.#process, this.#screen]) {
      const ended = once(process, 'exit')
      if (process.kill()) await ended
    }
  }
}

/** A tab of a browser. */
class Window {
  #session
  #handle
  #url

  static async open(session, handle, url) {
    const window = new Window()
    window.#session = session
    window.#handle = handle
    window.#url = url
    await window.#switch()
    await session('POST', '/url', { url })
    return window
  }

  /** Opens another one with the same page. */
  async openTab() {
    const { handle } = await this.#session('POST', '/window/new', { type: 'tab' })
    return Window.open(this.#session, handle, this.#url)
  }

  /** Calls a function in the page. Resolves with its result, and rejects with its error. */
  async evaluate(work, ...args) {
    await this.#switch()
    const script = `
      const [args, done] = arguments
      Promise.resolve((${work})(...args)).then((result) => done({ result }), (error) => done({ error: error.code + ' ' + error.message }))
    `
    const { result, error } = await this.#session('POST', '/execute/async', { script, args: [args] })
    if (error !== undefined) throw new Error(error)
    return result
  }

  async close() {
    await this.#switch()
    await this.#session('DELETE', '/window')
  }

  async #switch() {
    await this.#session('POST', '/window', { handle: this.#handle })
  }
}
