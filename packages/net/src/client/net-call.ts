import type { RemoteCall } from 'terrace-core'
import {
  packMessage,
  type RequestMessage,
  type RequestName,
  type TextRequestMessage
} from '../protocol/messages.js'
import { packBytes } from '../protocol/pack-bytes.js'

/** A request to the server. */
export interface NetCall<Result = unknown, Name extends RequestName = RequestName>
  extends RemoteCall<Result> {
  /** The second part, the request's number, is filled in when it is sent. */
  readonly message: RequestMessage<Name> | TextRequestMessage<Name>
  readonly pack: (message: never) => Uint8Array
}

/** Makes a request. */
export function netCall<Name extends RequestName, Result = unknown>(
  message: RequestMessage<Name>,
  read: (answer: never) => Result = asItIs
): NetCall<Result, Name> {
  return { message, pack: packMessage, read }
}

/** Makes a request whose bytes may be given as text. */
export function textCall<Name extends RequestName, Result = unknown>(
  message: TextRequestMessage<Name>,
  read: (answer: never) => Result = asItIs
): NetCall<Result, Name> {
  return { message, pack: packBytes, read }
}

/** Returns the answer itself. */
function asItIs(answer: never): never {
  return answer
}
