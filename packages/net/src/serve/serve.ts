/** Opens a database and serves it as the command line asks. */

import { readFileSync } from 'node:fs'
import type { BackendLevel, CodedError } from 'terrace-core'
import type { Peer, ServerOptions, User } from '../server/options.js'
import { createServer, type Server } from '../server/server.js'
import { sharedAddress } from '../transport/socket-path.js'
import { checkLength } from './check-length.js'
import type { Settings } from './command-line.js'
import { readingOnly, withoutWrites } from './read-only.js'
import { readTokens } from './token-file.js'
import { UsageError } from './usage-error.js'

/** A database that is being served. */
export interface Serving {
  readonly addresses: readonly string[]
  /** Where statistics are shown. */
  readonly metrics: string | undefined
  /** Finishes what clients have asked for, and closes the database. */
  close(): Promise<void>
}

/** @param log - Hears of connections that were refused or broken off. */
export async function serve(settings: Settings, log: (line: string) => void): Promise<Serving> {
  const options = serverOptions(settings, log)
  for (const address of settings.listen) checkLength(address)

  const db = await open(settings)
  const { sublevel } = settings
  const server = createServer(sublevel.length > 0 ? db.sublevel([...sublevel]) : db, options)
  const close = async (): Promise<void> => {
    await server.close()
    await db.close()
  }
  try {
    return { ...(await listen(server, settings)), close }
  } catch (error) {
    await close()
    throw error
  }
}

async function listen(server: Server, settings: Settings): Promise<Omit<Serving, 'close'>> {
  const wanted = settings.listen.length > 0 ? settings.listen : [sharedAddress(settings.location)]
  for (const address of wanted) await server.listen(address)
  const base = settings.metrics === undefined ? undefined : await server.serveMetrics(settings.metrics)
  return { addresses: server.addresses, metrics: base === undefined ? undefined : `${base}/metrics` }
}

function serverOptions(settings: Settings, log: (line: string) => void): ServerOptions {
  const { tokenFile, tls, isInsecure, isReadOnly } = settings
  const tokens = tokenFile === undefined ? undefined : readTokens(tokenFile)
  return {
    tokens: tokens !== undefined && isReadOnly ? mapped(tokens, reader) : tokens,
    permissions: isReadOnly ? readingOnly : undefined,
    insecure: isInsecure,
    tls: tls === undefined ? undefined : { cert: contentOf(tls.certFile), key: contentOf(tls.keyFile) },
    onWarning: (warning, peer) => log(lineOf(warning, peer))
  }
}

function reader(user: User): User {
  return user.permissions === undefined ? user : { ...user, permissions: withoutWrites(user.permissions) }
}

function mapped<T>(record: Readonly<Record<string, T>>, change: (value: T) => T): Record<string, T> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]))
}

function contentOf(file: string): Buffer {
  try {
    return readFileSync(file)
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${(error as CodedError<string>).code}`)
  }
}

function lineOf(warning: Error, { address, listener }: Peer): string {
  const { code = warning.name } = warning as Partial<CodedError<string>>
  return `refused ${address} on ${listener}: ${warning.message} (${code})`
}

async function open({ location, create }: Settings): Promise<BackendLevel> {
  const terrace = await loadTerrace()
  const db = new terrace.Level(location, { createIfMissing: create })
  try {
    await db.open()
    return db
  } catch (error) {
    const cause = ((error as Error).cause ?? error) as CodedError<string>
    if (cause.code !== 'LEVEL_DATABASE_MISSING') throw cause
    throw new Error(`there is no database in ${location}. If the path is right, create one with --create`)
  }
}

/** What is needed of the package `terrace`, which needs this one to be built. */
interface Terrace {
  readonly Level: new (location: string, options: { createIfMissing: boolean }) => BackendLevel
}

async function loadTerrace(): Promise<Terrace> {
  const name: string = 'terrace'
  try {
    return await import(name)
  } catch (error) {
    const { code, message } = error as CodedError<string>
    const isMissing = code === 'ERR_MODULE_NOT_FOUND' && message.includes("'terrace'")
    throw isMissing ? new Error('the package terrace is missing: npm install terrace') : error
  }
}
