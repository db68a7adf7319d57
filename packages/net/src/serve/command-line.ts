/** The command line of `terrace-serve`. */

import { parseArgs } from 'node:util'
import { isExposed } from '../server/listener.js'
import { isLoopback, parseAddress } from '../transport/address.js'
import { UsageError } from './usage-error.js'

/** What the command line asks for. */
export interface Settings {
  readonly location: string
  /** Where to listen. Empty: on the local socket of the database. */
  readonly listen: readonly string[]
  readonly tokenFile?: string
  readonly tls?: { readonly certFile: string; readonly keyFile: string }
  readonly isInsecure: boolean
  /** The path of names to the sublevel to serve. Empty: the whole database. */
  readonly sublevel: readonly string[]
  readonly create: boolean
  readonly metrics?: string
  readonly isReadOnly: boolean
}

export const help = `Usage: terrace-serve PATH [options]

Serves the Terrace database in the directory PATH to other processes and machines. Without options it listens on a local
socket, PATH/terrace.sock (on Windows: a named pipe), for programs of the same user.

  --listen ADDRESS       listen here instead: unix:PATH, tcp://HOST:PORT, tls://HOST:PORT, ws://HOST:PORT/PATH or
                         wss://HOST:PORT/PATH; may be given several times
  --token-file FILE      require a token from clients; FILE is JSON: { "TOKEN": { "name": "ada", "permissions": { … } }, … }
  --tls-cert FILE        the certificate, with its chain, in PEM, for tls: and wss:
  --tls-key FILE         its private key in PEM
  --insecure             allow connections without a token, and to the statistics, from other machines too
  --sublevel NAME        serve this sublevel only; given several times, the names are a path
  --read-only            allow clients only to read and watch
  --create               create the database if it does not exist
  --metrics HOST:PORT    show statistics at http://HOST:PORT/metrics (Prometheus) and /metrics.json
  --help, --version

When it is ready it prints a line for each address: "listening ADDRESS", then "metrics URL". SIGINT or SIGTERM ends it after
it has finished pending requests. A second signal ends it at once. Exit codes: 0 ended by a signal, 1 failure,
2 wrong usage, 130 and 143 ended at once.
`

const options = {
  listen: { type: 'string', multiple: true },
  'token-file': { type: 'string' },
  'tls-cert': { type: 'string' },
  'tls-key': { type: 'string' },
  insecure: { type: 'boolean' },
  sublevel: { type: 'string', multiple: true },
  'read-only': { type: 'boolean' },
  create: { type: 'boolean' },
  metrics: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean' }
} as const

/**
 * Reads the command line.
 *
 * @throws UsageError
 */
export function parseCommandLine(args: readonly string[]): Settings | 'help' | 'version' {
  const { values, positionals } = parsed(args)
  if (values.help) return 'help'
  if (values.version) return 'version'

  const [location, ...others] = positionals
  if (location === undefined || location === '')
    throw new UsageError('the directory of the database is missing')
  if (others.length > 0) throw new UsageError(`one directory at a time: '${others[0]}' is one too many`)

  const { listen = [], 'tls-cert': certFile, 'tls-key': keyFile } = values
  if ((certFile === undefined) !== (keyFile === undefined)) {
    throw new UsageError('--tls-cert and --tls-key belong together')
  }
  const isOpenToAll = values['token-file'] === undefined && values.insecure !== true
  for (const address of listen) checkAddress(address, certFile !== undefined, isOpenToAll)
  return {
    location,
    listen,
    tokenFile: values['token-file'],
    tls: certFile === undefined || keyFile === undefined ? undefined : { certFile, keyFile },
    isInsecure: values.insecure === true,
    sublevel: values.sublevel ?? [],
    create: values.create === true,
    metrics: values.metrics,
    isReadOnly: values['read-only'] === true
  }
}

function parsed(
  args: readonly string[]
): ReturnType<typeof parseArgs<{ options: typeof options; allowPositionals: true }>> {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true })
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

function checkAddress(address: string, hasCertificate: boolean, isOpenToAll: boolean): void {
  const parsed = addressOf(address)
  if ((parsed.kind === 'tls' || parsed.kind === 'wss') && !hasCertificate) {
    throw new UsageError(`${address} needs --tls-cert and --tls-key`)
  }
  if (isExposed(parsed, isOpenToAll, isLoopback)) {
    throw new UsageError(
      `other machines can reach ${address} and connect without a token: give --token-file, or --insecure`
    )
  }
}

function addressOf(address: string): ReturnType<typeof parseAddress> {
  try {
    return parseAddress(address)
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}
