// What a user may do, written down for single keys from what docs/sharing.md says. It shares no code with the server.

export const rights = ['read', 'write', 'clear', 'watch']

/** Sublevels by their paths. */
export const sublevels = [['a'], ['b'], ['bc'], ['a', 'n']]

export const prefixOf = (path) => path.map((name) => `!${name}!`).join('')

export const ownKeys = ['', '!', 'a', 'aa', 'ab', 'b', 'ba', 'c', '~', 'z']

/** Every key that is ever used, in order. */
export const allKeys = [
  ...new Set([
    ...ownKeys.slice(1),
    ...sublevels.flatMap((path) => ownKeys.map((key) => `${prefixOf(path)}${key}`))
  ])
].sort()

export function within({ gte, gt, lte, lt }, key) {
  const isAfter = gte !== undefined ? key >= gte : gt === undefined || key > gt
  return isAfter && (lte !== undefined ? key <= lte : lt === undefined || key < lt)
}

/** The entries of a walk over a sorted list. */
export function walked(entries, { reverse = false, limit = -1, ...bounds }) {
  const found = entries.filter(([key]) => within(bounds, key))
  if (reverse) found.reverse()
  return limit < 0 ? found : found.slice(0, limit)
}

export function randomBounds(random, keys) {
  const bounds = {}
  if (random.below(3) > 0) bounds[random.pick(['gte', 'gt'])] = random.pick(keys)
  if (random.below(3) > 0) bounds[random.pick(['lte', 'lt'])] = random.pick(keys)
  return bounds
}

/** Permissions as a program would give them. */
export function randomPermissions(random, methods, feeds) {
  const some = (names) => (random.below(4) === 0 ? 'all' : names.filter(() => random.below(2) === 0))
  const grants = Array.from({ length: random.below(5) }, () => {
    const path = random.below(2) === 0 ? random.pick(sublevels) : undefined
    const one = random.pick(rights)
    return {
      allow: random.below(4) === 0 ? 'all' : random.below(4) === 0 ? one : some(rights),
      ...(path !== undefined && { sublevel: path.length === 1 && random.below(2) === 0 ? path[0] : path }),
      ...randomBounds(random, ownKeys)
    }
  })
  return {
    keys: random.below(8) === 0 ? 'all' : grants,
    ...(random.below(4) > 0 && { methods: some(methods) }),
    ...(random.below(4) > 0 && { feeds: some(feeds) })
  }
}

export class Model {
  #grants
  #methods
  #feeds

  constructor({ keys, methods = [], feeds = [] }) {
    this.#grants = keys === 'all' ? [{ allow: 'all' }] : keys
    this.#methods = methods
    this.#feeds = feeds
  }

  /** Whether a key has a right. */
  allows(right, key) {
    return this.#of(right).some(({ sublevel = [], ...bounds }) => {
      const prefix = prefixOf([sublevel].flat())
      return key.startsWith(prefix) && within(bounds, key.slice(prefix.length))
    })
  }

  /** Whether any key can have a right. A grant may be of an empty range. */
  allowsAny(right) {
    return this.#of(right).some(({ gte, gt, lte, lt }) => {
      const from = gte ?? (gt === undefined ? '' : `${gt}\0`)
      const to = lte === undefined ? lt : `${lte}\0`
      return to === undefined || from < to
    })
  }

  /** Whether every key has a right: the least one, and each with which a grant ends. */
  allowsAll(right) {
    return ['', '\uffff', ...this.#ends(right)].every((key) => this.allows(right, key))
  }

  /** The first key after each grant. */
  #ends(right) {
    return this.#of(right).flatMap(({ sublevel = [], lte, lt }) => {
      const prefix = prefixOf([sublevel].flat())
      const afterPrefix = prefix === '' ? [] : [`${prefix.slice(0, -1)}"`]
      return [
        ...afterPrefix,
        ...(lte !== undefined ? [`${prefix}${lte}\0`] : lt === undefined ? [] : [prefix + lt])
      ]
    })
  }

  /** Whether every key that can be in a range has a right: its first one, and each with which a grant ends. */
  allowsRange(right, bounds) {
    const from = bounds.gte ?? (bounds.gt === undefined ? '' : `${bounds.gt}\0`)
    const to = bounds.lte === undefined ? bounds.lt : `${bounds.lte}\0`
    const isIn = (key) => key >= from && (to === undefined || key < to)
    if (!isIn(from)) return this.allowsAny(right)
    const last = to === undefined ? ['\uffff'] : []
    return [from, ...last, ...this.#ends(right).filter(isIn)].every((key) => this.allows(right, key))
  }

  allowsMethod(name) {
    return this.#methods === 'all' || this.#methods.includes(name)
  }

  allowsFeed(name) {
    return this.#feeds === 'all' || this.#feeds.includes(name)
  }

  #of(right) {
    return this.#grants.filter(({ allow }) => allow === 'all' || [allow].flat().includes(right))
  }
}
