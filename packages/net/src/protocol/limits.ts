/** The numbers of the protocol. Both sides know them; docs/net-protocol.md lists them. */

/** The version of the protocol. A server refuses clients of another one. */
export const PROTOCOL_VERSION = 1

/** Messages that are larger travel in parts of this size, so that others need not wait for all of it. */
export const PART_BYTES = 64 * 1024

/** What a frame has before its bytes: its length and its kind. */
export const FRAME_HEADER_BYTES = 5

/** The number of the message that a part belongs to. */
export const PART_HEADER_BYTES = 4

/** The largest message before the handshake is done. It holds a token. */
export const MAX_HELLO_BYTES = 8 * 1024

/** A sender waits once so much lies in the operating system's hands, or in the WebSocket's. */
export const MAX_BUFFERED_BYTES = 256 * 1024
