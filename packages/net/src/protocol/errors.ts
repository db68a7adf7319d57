/** The errors that arise between a client and a server. Errors of the served database keep their own codes. */

import { type CodedError, codedError } from 'terrace-core'

/** Codes of the errors that this package adds. */
export type NetErrorCode =
  /** No connection, or none for too long. What the call asked for has not happened. */
  | 'NET_OFFLINE'
  /**
   * The connection was lost after a write was sent, and the server that might know its fate is gone. The write may be stored
   * or not; it is not tried again.
   */
  | 'NET_WRITE_UNKNOWN'
  /** The server has forgotten the session, and with it a snapshot. */
  | 'NET_SESSION_LOST'
  /** The server does not know the token, or asks for one. */
  | 'NET_UNAUTHENTICATED'
  /** The user may not do that. */
  | 'NET_DENIED'
  /** A limit of the server was exceeded; the message says which. */
  | 'NET_LIMIT'
  /** The peer speaks another protocol, or another version of it, or breaks its rules. */
  | 'NET_PROTOCOL'
  /** The server has no method of that name. */
  | 'NET_UNKNOWN_METHOD'
  /** The server has no feed of that name. */
  | 'NET_UNKNOWN_FEED'
  /** The feed was closed on the server. */
  | 'NET_FEED_CLOSED'
  /** The server is shutting down. What the call asked for has not happened. */
  | 'NET_CLOSING'
  /** An address or option is not valid. */
  | 'NET_INVALID'
  /** A subscriber was too slow, or away for too long, and has missed events. */
  | 'NET_MISSED'
  /**
   * What listens, or what the directory holds, is not the whole database that this process shares. The message names the difference.
   */
  | 'NET_MISMATCH'

/** Makes an error of this package. */
export function netError(code: NetErrorCode, message: string, cause?: unknown): CodedError<NetErrorCode> {
  return Object.assign(codedError(code, message), cause === undefined ? undefined : { cause })
}

/** The peer has broken a rule of the protocol. The connection ends. */
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

/** Some objects have no text. */
function textOf(thrown: unknown): string {
  return typeof thrown === 'object' && thrown !== null ? 'It has failed' : String(thrown)
}

/** The error that a peer has described. */
export function errorFrom(code: unknown, message: unknown): CodedError<string> {
  return codedError<string>(String(code), String(message))
}
