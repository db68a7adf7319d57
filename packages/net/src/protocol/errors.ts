/** The errors that arise between a client and a server. Errors of the served database keep their own codes. */

import { type CodedError, codedError } from 'terrace-core'

/** Codes of the errors that this package adds. */
export type NetErrorCode =
  /** There is no connection, or has been none for too long. The call has had no effect. */
  | 'NET_OFFLINE'
  /**
   * The connection was lost after a write was sent, and the server that might know its outcome is gone. The write may or may not be
   * stored; it is not retried.
   */
  | 'NET_WRITE_UNKNOWN'
  /** The server has forgotten the session and everything in it, such as a snapshot. */
  | 'NET_SESSION_LOST'
  /** The server does not know the token, or requires one. */
  | 'NET_UNAUTHENTICATED'
  /** The user lacks the permission. */
  | 'NET_DENIED'
  /** A limit of the server was exceeded. The message names the limit. */
  | 'NET_LIMIT'
  /** The peer speaks another protocol or another version of it, or breaks its rules. */
  | 'NET_PROTOCOL'
  /** The server has no method of that name. */
  | 'NET_UNKNOWN_METHOD'
  /** The server has no feed of that name. */
  | 'NET_UNKNOWN_FEED'
  /** The feed was closed on the server. */
  | 'NET_FEED_CLOSED'
  /** The server is shutting down. The call has had no effect. */
  | 'NET_CLOSING'
  /** An address or option is not valid. */
  | 'NET_INVALID'
  /** A subscriber was too slow, or disconnected for too long, and has missed events. */
  | 'NET_MISSED'
  /**
   * The listening server, or the directory, does not hold the entire database that this process shares. The message names the
   * difference.
   */
  | 'NET_MISMATCH'
  /** The served database or a method failed with an error without a code, or its result cannot be sent. The message explains it. */
  | 'NET_FAILED'

/** Makes an error of this package. */
export function netError(code: NetErrorCode, message: string, cause?: unknown): CodedError<NetErrorCode> {
  return Object.assign(codedError(code, message), cause === undefined ? undefined : { cause })
}

/** The peer has broken a rule of the protocol. This error ends the connection. */
export function protocolError(message: string): CodedError<NetErrorCode> {
  return netError('NET_PROTOCOL', message)
}

/** The code and message of any thrown value, to send to the peer. Never throws. */
export function described(error: unknown): [code: string, message: string] {
  const { code, message } = (typeof error === 'object' && error !== null ? error : {}) as Partial<
    CodedError<string>
  >
  return [
    typeof code === 'string' ? code : 'NET_FAILED',
    typeof message === 'string' ? message : textOf(error)
  ]
}

/** Some objects cannot be converted to text. */
function textOf(thrown: unknown): string {
  return typeof thrown === 'object' && thrown !== null ? 'It has failed' : String(thrown)
}

/** Makes an error from its description by the peer. */
export function errorFrom(code: unknown, message: unknown): CodedError<string> {
  return codedError<string>(String(code), String(message))
}
