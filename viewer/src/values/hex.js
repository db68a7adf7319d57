/** Bytes as lines of sixteen: offset, digits, text. */

import { hex } from '../bytes.js'

const WIDTH = 16

/** The lines, without breaks. */
export function hexLines(bytes) {
  const digitsWidth = Math.max(4, (bytes.length - 1).toString(16).length)
  const lines = []
  for (let at = 0; at < bytes.length; at += WIDTH) {
    const piece = bytes.subarray(at, at + WIDTH)
    const halves = [hex(piece.subarray(0, 8), ' '), hex(piece.subarray(8), ' ')].join('  ')
    const text = Array.from(piece, (byte) =>
      byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '·'
    ).join('')
    lines.push(`${at.toString(16).padStart(digitsWidth, '0')}  ${halves.padEnd(3 * WIDTH)}  ${text}`)
  }
  return lines
}
