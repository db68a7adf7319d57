// The files of a new server, which are made once and copied for each server: making them takes seconds.

import { execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { HANG_MS } from '../../../../../tests/support/waiting.mjs'
import { ownDirectory, removeDirectory } from './belongings.js'
import { asServerUser, giveToServerUser } from './installation.js'
import { LOOPBACK } from './ports.js'

const templates = fileURLToPath(new URL('../../../../../target/new-servers/', import.meta.url))
const run = promisify(execFile)

/** The schema that exists at first. The user may make others whose names begin with it. */
export const SCHEMA = 'terrace'

/**
 * The files of a new server of a product.
 *
 * @param {import('./products.js').Product} product
 * @returns Its `accounts`, one as a program has it, and one that may do everything; and `copyTo()`, which makes the files.
 */
export async function newServer(product) {
  const directory = join(templates, `${product.name}-${fingerprint(product)}`)
  if (!existsSync(directory)) await make(product, directory)
  return {
    accounts: JSON.parse(readFileSync(join(directory, 'accounts.json'), 'utf8')),
    copyTo: (data) => run('cp', ['-a', '--reflink=auto', join(directory, 'data'), data])
  }
}

/** Another program, and other settings, need other files. */
function fingerprint(product) {
  const programs = product.command().map((path) => (existsSync(path) ? statSync(path).mtimeMs : path))
  const settings = product.install({ directory: '', data: '', users: '' })
  return createHash('sha256')
    .update(JSON.stringify([programs, settings]))
    .digest('hex')
    .slice(0, 16)
}

/** Makes the files elsewhere, so that they are there whole or not at all. */
async function make(product, directory) {
  const place = ownDirectory(`terrace-new-${product.name.toLowerCase()}`)
  try {
    const accounts = { user: account('terrace'), admin: account('admin') }
    const data = join(place, 'data')
    const users = join(place, 'users.sql')
    mkdirSync(data)
    giveToServerUser(data)
    giveToServerUser(place)
    writeFileSync(users, statements(product, accounts))
    const [program, ...args] = asServerUser(product.install({ directory: place, data, users }))
    await run(program, args, { timeout: HANG_MS })

    mkdirSync(templates, { recursive: true })
    const made = mkdtempSync(join(templates, 'making-'))
    await run('cp', ['-a', data, join(made, 'data')])
    writeFileSync(join(made, 'accounts.json'), JSON.stringify(accounts), { mode: 0o600 })
    try {
      renameSync(made, directory)
    } catch (error) {
      // Another program was faster.
      rmSync(made, { recursive: true })
      if (!existsSync(directory)) throw error
    }
  } finally {
    removeDirectory(place)
  }
}

const account = (user) => ({ user, password: randomBytes(12).toString('hex') })

function statements(product, { user, admin }) {
  const created = ({ user, password }) => `CREATE USER '${user}'@'${LOOPBACK}' IDENTIFIED BY '${password}';`
  return `FLUSH PRIVILEGES;
${created(user)}
${created(admin)}
CREATE DATABASE ${SCHEMA};
GRANT ALL ON \`${SCHEMA}%\`.* TO '${user.user}'@'${LOOPBACK}';
GRANT ALL ON *.* TO '${admin.user}'@'${LOOPBACK}' WITH GRANT OPTION;
${product.root}
`
}
