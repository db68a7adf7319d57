/** The messages with which tabs, workers and the broker establish channels. Messages over a channel are defined in `calls.ts`. */

import type { Failure } from './failure.js'

/** On the broadcast channel of a database. */
export type ControlMessage =
  /** A tab looks for the leader. */
  | { readonly kind: 'ask' }
  /** A worker has opened the database. */
  | { readonly kind: 'leader'; readonly epoch: number }
  /** A leader could not open the database, or the browser has removed it. */
  | { readonly kind: 'failed'; readonly epoch: number; readonly failure: Failure }
  | Introduce

/**
 * A tab wants a channel to the worker of this epoch. It receives one through the broker with this id, or uses the broadcast channel
 * of the link.
 */
export interface Introduce {
  readonly kind: 'introduce'
  readonly epoch: number
  readonly tab: string
  readonly link: string
  readonly broker: string | undefined
}

/** From a page to its worker. */
export type ToWorker =
  | { readonly kind: 'open'; readonly location: string; readonly epoch: number; readonly options: object }
  /** The page's own channel, with a port, and memory that they share if the browser lets them. */
  | { readonly kind: 'own'; readonly tab: string; readonly shared: SharedArrayBuffer | undefined }
  /** A connection to the broker: a port, or none if there is no broker. */
  | { readonly kind: 'line' }
  | { readonly kind: 'close' }

/** From a worker to its page. */
export type FromWorker =
  /** The worker holds the lock of its epoch. */
  | { readonly kind: 'lives' }
  | { readonly kind: 'opened' }
  | { readonly kind: 'failed'; readonly failure: Failure }
  | { readonly kind: 'line-wanted' }
  | { readonly kind: 'closed'; readonly failure: Failure | undefined }

/** From a page to the worker of a database that only this page has open. */
export type ToOwnWorker =
  /** Opens the database, with this lock held for as long as the worker lives, and memory that they share if the browser lets them. */
  | {
      readonly kind: 'open-own'
      readonly location: string
      readonly lock: string
      readonly options: object
      readonly shared: SharedArrayBuffer | undefined
    }
  | { readonly kind: 'close-own' }

/** From that worker to its page. The port of the channel comes with `opened`. */
export type FromOwnWorker = Exclude<FromWorker, { readonly kind: 'line-wanted' }>

/** To the broker. It answers the first two with {@link BrokerAnswer}. */
export type ToBroker =
  | { readonly kind: 'hello' }
  /** Send me the port that is delivered for this link. */
  | { readonly kind: 'receive'; readonly link: string; readonly tab: string }
  /** Here is the port for this link. */
  | { readonly kind: 'deliver'; readonly link: string }

/** From the broker. The port of a link comes with `null`. */
export type BrokerAnswer = { readonly broker: string } | null
