/** The types of the databases that users pass to parts of the toolbox, and that these work on. */

import type { AbstractLevel } from 'abstract-level'

/** Any database with abstract-level's API, whatever the types of its keys and values. */
// biome-ignore lint/suspicious/noExplicitAny: the types of keys and values do not matter here
export type AnyLevel = AbstractLevel<any, any, any>

/**
 * A database with abstract-level's API whose types of keys and values matter. The full class type would reject some of its
 * subclasses, because the types of their hooks name the class itself. With the other methods included, TypeScript could not
 * infer the types of some subclasses.
 */
export type LevelLike<K, V> = Pick<
  // biome-ignore lint/suspicious/noExplicitAny: how the database keeps its data does not matter
  AbstractLevel<any, K, V>,
  'status' | 'supports' | 'put' | 'del' | 'clear' | 'keyEncoding' | 'valueEncoding'>
