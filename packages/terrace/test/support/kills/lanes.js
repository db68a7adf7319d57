// What the killed writer writes: lanes of writes that depend only on the seed, so that they need not be reported.

/** The most writes of a lane that may be running at once. They take effect in their order. */
export const WIDTH = 4

const LANES = 3
/** Keys of a lane. Few, so that they are overwritten and deleted many times. */
const KEYS = 30

/** Random numbers that are the same for the same seeds: mulberry32 (Ettinger, 2017). */
export function random(...seeds) {
  let state = seeds.reduce(
    (mixed, seed) => Math.imul(mixed ^ (seed + 0x9e3779b9), 0x85ebca6b) ^ (mixed >>> 15),
    1
  )

  const number = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return (mixed ^ (mixed >>> 14)) >>> 0
  }

  return {
    number,
    below: (end) => number() % end,
    choose: (choices) => choices[number() % choices.length]
  }
}

/** The lanes of a trial. The last one writes to a sublevel. */
export function lanes(seed) {
  return Array.from({ length: LANES }, (_, number) => new Lane(seed, number, number === LANES - 1))
}

/** A row of writes, numbered from 1, to keys that no other lane uses. */
class Lane {
  #seed

  constructor(seed, number, isSublevel) {
    this.#seed = seed
    this.number = number
    /** The name of the sublevel that the lane writes to, if it does. */
    this.sublevel = isSublevel ? `lane${number}` : undefined
    /** The prefix of all its keys in the database. */
    this.prefix = isSublevel ? `!lane${number}!` : `lane${number}/`
  }

  /** The write of that number: `kind` is the method to call, and `operations` have keys as the database stores them. */
  write(number) {
    const draw = random(this.#seed, this.number, number)
    const isLarge = draw.below(200) === 0
    const kind = draw.choose(['put', 'del', 'batch', 'chained'])
    const count = kind === 'put' || kind === 'del' ? 1 : draw.choose([1, 3, 12])
    const longest = isLarge ? 1_000_000 / count : draw.choose([10, 100, 2000])

    const operations = Array.from({ length: count }, () => {
      const key = `${this.prefix}${draw.below(KEYS)}`
      const isDeletion = kind === 'del' || (kind !== 'put' && draw.below(3) === 0)
      if (isDeletion) return { type: 'del', key }
      return { type: 'put', key, value: value(draw, `${this.number} ${number} `, draw.below(longest)) }
    })

    return { kind, operations, sync: draw.below(20) === 0, isLarge }
  }
}

/** A value that identifies its write, followed by text that compresses well, or not at all. */
function value(draw, text, size) {
  if (draw.below(2) === 0) return Buffer.from(text.padEnd(size, 'compresses well '))
  const words = new Uint32Array(size >>> 2)
  for (let index = 0; index < words.length; index++) words[index] = draw.number()
  return Buffer.concat([Buffer.from(text), Buffer.from(words.buffer)])
}
