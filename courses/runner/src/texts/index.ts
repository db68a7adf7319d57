/** The texts of the runner, by language. */

import { de } from './de.js'
import { en, type Texts } from './en.js'

/** All languages that the runner speaks. */
export const allTexts: Readonly<Record<string, Texts>> = { en, de }

/** Makes the text of a key, with values for its names. */
export type Say = (key: keyof Texts, values?: Readonly<Record<string, string | number>>) => string

/** Speaks a language, or English if the runner does not know it. */
export function speaker(language: string): Say {
  const texts = allTexts[language] ?? en
  return (key, values = {}) =>
    texts[key].replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole))
}
