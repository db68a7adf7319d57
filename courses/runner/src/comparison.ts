/** What was expected beside what came, for a reader. */

import { inspect } from 'node:util'
import type { Say } from './texts/index.js'

const MAX_LINES = 12

const options = { depth: 8, maxArrayLength: 40, maxStringLength: 2000, sorted: false, breakLength: 90 }

/** A value as text. */
export function shown(value: unknown): string {
  return typeof value === 'string' && value.includes('\n')
    ? value.replace(/\n$/, '')
    : inspect(value, options)
}

/** Two values beside each other; of long texts the lines around the first difference. */
export function comparison(expected: unknown, actual: unknown, say: Say): string {
  const sides = [shown(expected), shown(actual)]
  // What differs only in what is not shown by lines is shown with its quotes.
  const [left, right] = (sides[0] === sides[1] ? [inspect(expected), inspect(actual)] : sides) as [
    string,
    string
  ]
  const label = (key: 'expected-value' | 'actual-value'): string => `${say(key)}:`.padEnd(10)
  if (!left.includes('\n') && !right.includes('\n')) {
    return `${label('expected-value')} ${left}\n${label('actual-value')} ${right}`
  }

  const [expectedLines, actualLines] = [left.split('\n'), right.split('\n')]
  const first = expectedLines.findIndex((line, index) => line !== actualLines[index])
  const at = first < 0 ? expectedLines.length : first
  const from = Math.max(0, at - 2)
  const part = (lines: string[], mark: string): string[] =>
    lines.slice(from, from + MAX_LINES).map((line, index) => `${from + index >= at ? mark : ' '} ${line}`)
  return [
    say('difference-at', { line: at + 1 }),
    label('expected-value').trim(),
    ...part(expectedLines, '+'),
    label('actual-value').trim(),
    ...part(actualLines, '-')
  ].join('\n')
}
