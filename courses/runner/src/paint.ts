/** Colours, where the terminal shows them and the user wants them. */

import { styleText } from 'node:util'

type Format = Parameters<typeof styleText>[0]

/** Styles a text, or returns it unchanged. */
export type Paint = (format: Format, text: string) => string

/** How to style what is written to a stream. The variable `NO_COLOR` turns it off. */
export function painter(stream: NodeJS.WriteStream): Paint {
  const isColoured = stream.isTTY && stream.hasColors()
  if (!isColoured) return (_, text) => text
  // It was decided above. Newer Nodes would decide again, by standard output.
  const options = { validateStream: false } as never
  return (format, text) => (styleText as (...args: unknown[]) => string)(format, text, options)
}
