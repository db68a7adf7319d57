import { type CodedError, codedError } from 'terrace-core'
import { Ask } from '../protocol/messages.js'

/** What the server reports about itself and about this client. */
export interface Welcome {
  /** The user's name, as the server's authentication gave it. */
  readonly user: string | null
  /** The server's own name and version. */
  readonly server: string
  /** The manifest of the served database. */
  readonly manifest: Record<string, unknown>
  /** The largest message that the server takes, in bytes. */
  readonly maxMessageBytes: number
  /** The most operations in a batch, and the most keys in a request. */
  readonly maxBatchOperations: number
  /** The identity of the database that is served, in whole or in part; null if it is in no directory. Older servers omit it. */
  readonly database?: string | null
  /** The prefix of all served keys in that database: empty, unless a sublevel is served. */
  readonly prefix?: Uint8Array
  /** What this client may do with every key. */
  readonly rights?: readonly string[]
  /** The names of the methods that this client may call. */
  readonly methods?: readonly string[]
}

/** What not every server has, as it is called in manifests. */
type Capability = 'conditionalWrites' | 'versions'

const names: Record<Capability, string> = {
  conditionalWrites: 'conditional writes',
  versions: 'versions of entries'
}

/** The requests that need one. A server without it would not know the request, and end the connection. */
const needs: ReadonlyMap<number, Capability> = new Map<number, Capability>([
  [Ask.writeIf, 'conditionalWrites'],
  [Ask.getEntry, 'versions']
])

/** The error of a request of this kind if the server cannot take it; undefined if it can. */
export function objectionTo(kind: number, welcome: Partial<Welcome> | undefined): CodedError | undefined {
  const needed = needs.get(kind)
  if (needed === undefined || welcome?.manifest?.[needed] === true) return undefined
  return codedError(
    'LEVEL_NOT_SUPPORTED',
    `The server does not support ${names[needed]}: its version is older, or its database has none`
  )
}
