/** Where the servers are, and how to get in: from a URL or from options. Nothing of it is shown in errors. */

import { createHash } from 'node:crypto'
import type { ConnectionOptions } from 'mysql2'
import type { ServerOptions, TlsOptions } from './options.js'

const DEFAULT_PORT = 3306

/** A host of a target. */
export interface Host {
  readonly name: string
  readonly port: number
}

/** The servers of a database. Its secrets are private fields, which no inspection shows. */
export class Target {
  readonly hosts: readonly Host[]
  readonly schema: string
  readonly #user: string
  readonly #password: string
  readonly #tls: boolean | TlsOptions

  /** @throws TypeError if the location or the option `tls` is not valid. */
  constructor(location: string | ServerOptions, tls: boolean | TlsOptions | undefined) {
    const { hosts, user, password, schema, usesTls } =
      typeof location === 'string' ? fromUrl(location) : fromOptions(location)
    this.hosts = hosts.map(hostOf)
    this.schema = schema
    this.#user = user
    this.#password = password
    this.#tls = tls ?? usesTls
  }

  /** The servers and the schema, without the user. */
  get address(): string {
    return `mysql://${this.hosts.map(nameOf).join(',')}/${encodeURIComponent(this.schema)}`
  }

  /** The same for equal targets. It tells nothing about the secrets. */
  get key(): string {
    const parts = [this.address, this.#user, this.#password, this.#tls]
    return createHash('sha256').update(JSON.stringify(parts)).digest('hex')
  }

  /** The options of mysql2 for a connection to a host. */
  loginTo(host: Host): ConnectionOptions {
    const tls = this.#tls === true ? {} : this.#tls
    return {
      host: host.name,
      port: host.port,
      user: this.#user,
      password: this.#password,
      database: this.schema,
      ...(tls === false ? {} : { ssl: { rejectUnauthorized: true, verifyIdentity: true, ...tls } as object })
    }
  }
}

/** A host for people. */
export function nameOf({ name, port }: Host): string {
  return `${name.includes(':') ? `[${name}]` : name}:${port}`
}

interface Parsed {
  readonly hosts: readonly string[]
  readonly user: string
  readonly password: string
  readonly schema: string
  readonly usesTls: boolean
}

/** The parser of URLs takes one host alone. */
const URL_PARTS = /^(mysqls?):\/\/([^:@/?#]*)(?::([^@/?#]*))?@([^@/?#]+)\/([^/?#]+)$/

function fromUrl(url: string): Parsed {
  const parts = URL_PARTS.exec(url)
  if (parts === null) {
    throw new TypeError(
      "The first argument must be 'mysql://USER:PASSWORD@HOST:PORT,HOST:PORT/SCHEMA', with special characters percent-encoded"
    )
  }
  const [, scheme, user, password = '', hosts, schema] = parts as unknown as string[]
  return {
    hosts: (hosts as string).split(','),
    user: decoded(user as string),
    password: decoded(password),
    schema: decoded(schema as string),
    usesTls: scheme === 'mysqls'
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new TypeError('The first argument has a % that is not followed by two hexadecimal digits')
  }
}

function fromOptions(options: ServerOptions): Parsed {
  const { hosts, user, password = '', schema } = options ?? {}
  if (!Array.isArray(hosts) || hosts.length === 0 || !hosts.every(isText)) {
    throw new TypeError("The option 'hosts' must be an array of 'HOST' or 'HOST:PORT'")
  }
  if (!isText(user) || !isText(schema) || typeof password !== 'string') {
    throw new TypeError("The options 'user', 'password' and 'schema' must be strings")
  }
  return { hosts, user, password, schema, usesTls: false }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

function hostOf(text: string): Host {
  const parts = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d{1,5}))?$/.exec(text)
  const port = Number(parts?.[3] ?? DEFAULT_PORT)
  if (parts === null || port < 1 || port > 65535) {
    throw new TypeError("Each host must be 'HOST' or 'HOST:PORT', with IPv6 addresses in brackets")
  }
  return { name: (parts[1] ?? parts[2]) as string, port }
}
