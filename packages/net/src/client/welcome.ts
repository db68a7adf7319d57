import { type CodedError, codedError } from 'terrace-core'

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

/** Whether the server takes conditional writes. Older servers do not declare them, and those of a database that has none. */
export function hasConditionalWrites(welcome: Partial<Welcome> | undefined): boolean {
  return welcome?.manifest?.conditionalWrites === true
}

/** The error of a conditional write for a server that does not take them. */
export function noConditionalWrites(): CodedError {
  return codedError(
    'LEVEL_NOT_SUPPORTED',
    'The server does not support conditional writes: its version is older, or its database has none'
  )
}
