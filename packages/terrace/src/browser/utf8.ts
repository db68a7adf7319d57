/** Text to and from the module's memory. Most keys are short and ASCII, which is faster without the platform's coders. */

const encoder = new TextEncoder()
/** A mark of the byte order at the beginning is a part of the text. */
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

const MAX_SHORT = 48

/** Stores a string as UTF-8. There is room for three bytes for each of its units. Returns the number of bytes. */
export function storeText(text: string, memory: Uint8Array, start: number): number {
  const { length } = text
  if (length <= MAX_SHORT) {
    let index = 0
    for (; index < length; index++) {
      const unit = text.charCodeAt(index)
      if (unit > 0x7f) break
      memory[start + index] = unit
    }
    if (index === length) return length
  }
  return encoder.encodeInto(text, memory.subarray(start)).written
}

/** The string of these bytes of UTF-8. */
export function textAt(memory: Uint8Array, start: number, end: number): string {
  if (end - start <= MAX_SHORT) {
    let text = ''
    let index = start
    for (; index < end; index++) {
      const byte = memory[index] as number
      if (byte > 0x7f) break
      text += String.fromCharCode(byte)
    }
    if (index === end) return text
  }
  return decodeText(memory, start, end)
}

/** The same, by the platform's decoder. */
export function decodeText(memory: Uint8Array, start: number, end: number): string {
  return decoder.decode(memory.subarray(start, end))
}
