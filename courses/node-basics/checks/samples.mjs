/** Random input: texts that a person can read, small enough to be followed by hand. */

/** Letters outside of ASCII, which have more than one byte in a file. */
const SPECIAL = ['ä', 'ö', 'é', 'ñ', '€']

/** A word of small letters, some of which have more than one byte. */
export function randomWord(random) {
  const word = random.word(random.integer(2, 7))
  return random.integer(1, 3) === 1 ? word + random.pick(SPECIAL) : word
}

/** A line of `count` words. */
export function randomLine(random, count) {
  return Array.from({ length: count }, () => randomWord(random)).join(' ')
}

/** Lines of words, an empty one among them. Each ends with a line break. */
export function randomText(random) {
  const lines = Array.from({ length: random.integer(4, 9) }, () => randomLine(random, random.integer(1, 5)))
  lines.splice(random.integer(1, lines.length - 1), 0, '')
  return lines.map((line) => `${line}\n`).join('')
}
