/** The messages between a check and the child process that calls a learner's function. */

/** What to call. */
export interface Call {
  readonly file: string
  readonly exportName: string
  /** A module whose default export calls the learner's function. */
  readonly harness: string | undefined
  readonly data: unknown
}

/** What came of it. */
export type CallMessage =
  | { readonly kind: 'returned'; readonly value: unknown }
  | {
      readonly kind: 'threw'
      readonly text: string
      readonly permission?: string
      readonly resource?: string
    }
  | { readonly kind: 'no-function'; readonly exportName: string; readonly found: readonly string[] }
  | { readonly kind: 'not-sendable'; readonly message: string }
