import type { RemoteCall } from 'terrace-core'
import { packFrame } from '../protocol/frame.js'

/** A request to the server. */
export interface NetCall<Result = unknown> extends RemoteCall<Result> {
  /** The place of its number, the second part, is filled in when it is asked. */
  readonly message: [kind: number, number: number, ...parts: unknown[]]
  readonly pack: (message: never) => Uint8Array
}

/** Makes a request of any kind. */
export function netCall<Result = unknown>(
  kind: number,
  parts: readonly unknown[],
  read: (answer: never) => Result = asItIs
): NetCall<Result> {
  return { message: [kind, 0, ...parts], pack: packFrame, read }
}

/** The result is the answer. */
export function asItIs(answer: never): never {
  return answer
}
