/** The types of the databases that parts are called with, and work on. */

import type { AbstractLevel } from 'abstract-level'

/** Any database with abstract-level's API, whatever its keys and values are. */
// biome-ignore lint/suspicious/noExplicitAny: the types of keys and values do not matter here
export type AnyLevel = AbstractLevel<any, any, any>

/**
 * A database with abstract-level's API, of which the types of keys and values matter. The whole class would refuse some of
 * its own subclasses: their hooks name themselves. With their other methods, some subclasses' types would not be found.
 */
export type LevelLike<K, V> = Pick<
  // biome-ignore lint/suspicious/noExplicitAny: how the database keeps its data does not matter
  AbstractLevel<any, K, V>,
  'status' | 'supports' | 'put' | 'del' | 'clear' | 'keyEncoding' | 'valueEncoding'>
