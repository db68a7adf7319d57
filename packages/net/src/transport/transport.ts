/** A connection as a stream of bytes in both directions, whatever carries it. */

/** What the user of a transport wants to hear of. */
export interface TransportHandlers {
  /** Bytes have arrived. They belong to the handler. */
  data(bytes: Uint8Array): void
  /** More is there than was handed over. Called only by transports that hold parts of what comes. */
  receiving?(): void
  /** Less than the limit is buffered again. */
  drain(): void
  /** The connection is closed, for the last time. */
  close(cause?: Error): void
}

export interface Transport {
  /** Where the other end is, for people. */
  readonly peer: string
  /** How many written bytes have not been handed to the operating system. */
  readonly bufferedBytes: number
  /** How much has come and was not handed over, if this transport holds parts of what comes. */
  readonly receivingBytes?: number
  /** Begins to hear of events. Called once, in the turn of the event loop in which the transport was made. */
  attach(handlers: TransportHandlers): void
  write(bytes: Uint8Array): void
  /** The peer has said who it is, and may send more than a greeting. */
  welcomed?(): void
  /** Stops the flow of data from the peer, if the transport can. */
  pause(): void
  resume(): void
  /** Closes the connection once everything written has been sent. */
  end(): void
  /** Closes the connection now. */
  destroy(): void
}
