/**
 * The messages: their numbers, their parts in order, and the results of requests. The client and the server make and read messages by
 * this table, the fuzzers draw from it, and a test compares docs/net-protocol.md with it, which explains what each part means.
 */

import { conditions } from './conditions.js'
import type { Message } from './frame.js'
import { packFrame } from './frame.js'
import {
  anything,
  array,
  arrayOf,
  boolean,
  bytes,
  contents,
  entry,
  handle,
  intervals,
  map,
  nothing,
  number,
  type GivenResult as OfGiven,
  operations,
  optional,
  type Parts,
  type PartType,
  page,
  type ReadParts,
  range,
  readPart,
  readParts,
  type SentParts,
  type SentResult,
  string,
  type TextParts,
  token
} from './parts.js'

export interface MessageForm {
  readonly kind: number
  readonly parts: Parts
}

export interface RequestForm extends MessageForm {
  readonly result: PartType<unknown>
  /** Whether it may be done twice, because it only reads. */
  readonly isRepeatable?: true
}

const snapshot = ['snapshot', optional(handle)] as const

/** What a client asks for. A number comes before these parts; the server answers by it. */
export const requests = {
  get: { kind: 1, parts: [['key', bytes], snapshot], result: optional(bytes), isRepeatable: true },
  getMany: {
    kind: 2,
    parts: [['keys', arrayOf(bytes)], snapshot],
    result: arrayOf(optional(bytes)),
    isRepeatable: true
  },
  has: { kind: 3, parts: [['key', bytes], snapshot], result: boolean, isRepeatable: true },
  hasMany: {
    kind: 4,
    parts: [['keys', arrayOf(bytes)], snapshot],
    result: arrayOf(boolean),
    isRepeatable: true
  },
  write: {
    kind: 5,
    parts: [
      ['operations', operations],
      ['sync', boolean]
    ],
    result: nothing
  },
  clear: {
    kind: 6,
    parts: [['range', range], ['reverse', boolean], ['limit', optional(number)], snapshot],
    result: nothing
  },
  snapshot: { kind: 7, parts: [['handle', handle]], result: nothing },
  closeSnapshot: { kind: 8, parts: [['handle', handle]], result: nothing },
  cursor: {
    kind: 9,
    parts: [['handle', handle], ['range', range], ['reverse', boolean], ['contents', contents], snapshot],
    result: nothing
  },
  read: {
    kind: 10,
    parts: [
      ['handle', handle],
      ['page', number],
      ['size', number],
      ['high-water mark', number]
    ],
    result: page,
    // A cursor keeps its last page itself.
    isRepeatable: true
  },
  seek: {
    kind: 11,
    parts: [
      ['handle', handle],
      ['target', bytes]
    ],
    result: nothing
  },
  closeCursor: { kind: 12, parts: [['handle', handle]], result: nothing },
  call: {
    kind: 13,
    parts: [
      ['method', string],
      ['arguments', array]
    ],
    result: anything
  },
  subscribe: {
    kind: 14,
    parts: [
      ['handle', handle],
      ['feed', optional(string)],
      ['range', range],
      ['after', optional(number)]
    ],
    result: nothing
  },
  unsubscribe: { kind: 15, parts: [['handle', handle]], result: nothing },
  // Only for a server whose welcome says that its database has conditional writes.
  writeIf: {
    kind: 16,
    parts: [
      ['conditions', conditions],
      ['operations', operations],
      ['sync', boolean]
    ],
    // The indices of the conditions that do not hold; nil if the operations were written.
    result: optional(arrayOf(number))
  },
  // Only for a server whose welcome says that the entries have versions.
  getEntry: { kind: 17, parts: [['key', bytes], snapshot], result: optional(entry), isRepeatable: true }
} as const satisfies Record<string, RequestForm>

/** What a client sends without a number, for which there is no answer. */
export const notices = {
  hello: {
    kind: 32,
    parts: [
      ['version', number],
      ['token', token],
      ['session', optional(bytes)]
    ]
  },
  received: {
    kind: 33,
    parts: [
      ['numbers', arrayOf(number)],
      ['oldest', number]
    ]
  },
  credit: {
    kind: 34,
    parts: [
      ['handle', handle],
      ['event', number]
    ]
  },
  bye: { kind: 35, parts: [] }
} as const satisfies Record<string, MessageForm>

/** What a server sends. */
export const told = {
  result: {
    kind: 64,
    parts: [
      ['number', number],
      ['result', anything]
    ]
  },
  failure: {
    kind: 65,
    parts: [
      ['number', number],
      ['code', string],
      ['message', string]
    ]
  },
  // The content of an event follows, by its code.
  event: {
    kind: 66,
    parts: [
      ['handle', handle],
      ['event', number],
      ['code', number]
    ]
  },
  ended: {
    kind: 67,
    parts: [
      ['handle', handle],
      ['event', number],
      ['code', string],
      ['message', string]
    ]
  },
  welcome: {
    kind: 96,
    parts: [
      ['session', bytes],
      ['resumed', boolean],
      ['server', map]
    ]
  },
  refused: {
    kind: 97,
    parts: [
      ['code', string],
      ['message', string]
    ]
  },
  closing: { kind: 98, parts: [] }
} as const satisfies Record<string, MessageForm>

/** What both send, to learn whether the other is there. */
export const signsOfLife = {
  ping: { kind: 126, parts: [] },
  pong: { kind: 127, parts: [] }
} as const satisfies Record<string, MessageForm>

/** What an event of a subscription tells, by its code. */
export const events = {
  write: { kind: 1, parts: [['operations', operations]] },
  clear: {
    kind: 2,
    parts: [
      ['intervals', intervals],
      ['partial', boolean]
    ]
  },
  change: {
    kind: 3,
    parts: [
      ['put', boolean],
      ['sequence', number],
      ['key', bytes],
      ['value', optional(bytes)],
      ['old value', optional(bytes)],
      ['time', number],
      ['batch', number],
      ['first', boolean],
      ['last', boolean]
    ]
  }
} as const satisfies Record<string, MessageForm>

/** The kinds of what a client sends. */
export const Ask = kindsOf({ ...requests, ...notices })

/** The kinds of what a server sends. */
export const Tell = kindsOf(told)

export const Both = kindsOf(signsOfLife)

export const EventCode = kindsOf(events)

function kindsOf<Forms extends Record<string, MessageForm>>(
  forms: Forms
): { readonly [Name in keyof Forms]: Forms[Name]['kind'] } {
  const kinds = Object.entries(forms).map(([name, { kind }]) => [name, kind])
  return Object.fromEntries(kinds) as { [Name in keyof Forms]: Forms[Name]['kind'] }
}

export type RequestName = keyof typeof requests

/** A request as it is sent, with its number. */
export type RequestMessage<Name extends RequestName = RequestName> = {
  [N in Name]: [
    kind: (typeof requests)[N]['kind'],
    number: number,
    ...SentParts<(typeof requests)[N]['parts']>
  ]
}[Name]

/** A request for `packBytes()`. */
export type TextRequestMessage<Name extends RequestName = RequestName> = {
  [N in Name]: [
    kind: (typeof requests)[N]['kind'],
    number: number,
    ...TextParts<(typeof requests)[N]['parts']>
  ]
}[Name]

/** The result of a request as the server has it. */
export type GivenResult<Name extends RequestName> = OfGiven<(typeof requests)[Name]['result']>

/** The result of a request as it travels. */
export type Result<Name extends RequestName> = SentResult<(typeof requests)[Name]['result']>

type MessageOf<Forms extends Record<string, MessageForm>> = {
  [Name in keyof Forms]: [kind: Forms[Name]['kind'], ...SentParts<Forms[Name]['parts']>]
}[keyof Forms]

export type NoticeMessage = MessageOf<typeof notices>

/** The code and the content of an event. */
export type EventContent = MessageOf<typeof events>

type EventMessage = [kind: typeof Tell.event, handle: number, event: number, ...EventContent]

export type ServerMessage = MessageOf<Omit<typeof told, 'event'>> | EventMessage

/** Packs a message as one frame, however large it is. */
export function packMessage(
  message: RequestMessage | NoticeMessage | ServerMessage | MessageOf<typeof signsOfLife>
): Uint8Array {
  return packFrame(message)
}

/** The parts of a request after its number. */
export type RequestParts<Name extends RequestName> = ReadParts<(typeof requests)[Name]['parts']>

/** The number of a request. */
export function numberOf(message: Message): number {
  return readPart(told.result.parts[0], message[1])
}

/** Takes the parts of a request after its number. */
export function readRequest<P extends Parts>(
  { parts }: { readonly parts: P },
  message: Message
): ReadParts<P> {
  return readParts(parts, message, 2)
}

/** Takes the parts of another message. */
export function readMessage<P extends Parts>(
  { parts }: { readonly parts: P },
  message: Message
): ReadParts<P> {
  return readParts(parts, message)
}

/** Takes the content of an event, which must be this one. */
export function readEvent<P extends Parts>({ parts }: { readonly parts: P }, message: Message): ReadParts<P> {
  return readParts(parts, message, 1 + told.event.parts.length)
}
