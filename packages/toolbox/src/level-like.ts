import type { AbstractLevel } from 'abstract-level'

/**
 * A database with abstract-level's API, of which the types of keys and values matter. The whole class would refuse some of
 * its own subclasses: their hooks name themselves.
 */
export type LevelLike<K, V> = Pick<
  // biome-ignore lint/suspicious/noExplicitAny: how the database keeps its data does not matter
  AbstractLevel<any, K, V>,
  'status' | 'supports' | 'open' | 'close' | 'get' | 'getMany' | 'has' | 'put' | 'del' | 'clear'>
