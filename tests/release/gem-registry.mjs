// A registry of gems on loopback: the call that `gem push` makes, and the files that `gem generate_index` writes.

import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { serve } from './loopback.mjs'

const run = promisify(execFile)
/** `gem push` wants some key before it sends a gem. */
const KEY = 'loopback'

/**
 * @typedef {object} GemRegistry
 * @property {string} url
 * @property {Record<string, string>} environment - Gives `gem` its own directory for gems, and no settings of the user.
 * @property {() => void} close
 */

/**
 * Starts a registry.
 *
 * @param {string} directory - For what it has, and for the gems that are installed.
 * @returns {Promise<GemRegistry>}
 */
export async function startGemRegistry(directory) {
  const served = join(directory, 'gem-registry')
  mkdirSync(join(served, 'gems'), { recursive: true })
  const server = await serve(async (method, path, body) => {
    if (method === 'POST' && path === '/api/v1/gems') {
      const pushed = join(served, 'pushed.gem')
      writeFileSync(pushed, body)
      const { stdout } = await run('gem', ['specification', pushed, 'full_name'])
      const name = stdout.replace(/^---/, '').trim()
      const file = join(served, 'gems', `${name}.gem`)
      if (existsSync(file)) return { status: 409, body: `${name} is there already` }
      renameSync(pushed, file)
      await run('gem', ['generate_index', '--directory', served])
      return { body: `Registered ${name}` }
    }
    const file = join(served, path)
    const isThere = file.startsWith(served) && existsSync(file) && statSync(file).isFile()
    return isThere ? { body: readFileSync(file) } : { status: 404 }
  })
  await run('gem', ['generate_index', '--directory', served])
  const home = join(directory, 'gem-home')
  mkdirSync(home)
  return {
    url: server.url,
    environment: {
      GEM_HOME: join(home, 'gems'),
      GEM_SPEC_CACHE: join(home, 'specs'),
      GEMRC: '/dev/null',
      GEM_HOST_API_KEY: KEY
    },
    close: server.close
  }
}
