/**
 * The connection of a tab to the worker that has a database open, in this tab or in another. Messages are values of the structured
 * clone; they arrive whole and in order, or the channel is lost.
 */
export interface Channel {
  /** Sends a message. Does nothing if the channel is lost. What is transferred belongs to the other side. */
  send(message: unknown, transfer?: Transferable[]): void
  /** Called with each message. Set before the first await after the channel was received. */
  onMessage: (message: unknown) => void
  /**
   * Called once if the other side is gone, or has been replaced by another leader. No message comes after it. Not called after
   * {@link close}.
   */
  onLost: () => void
  /** Gives the channel up. */
  close(): void
}
