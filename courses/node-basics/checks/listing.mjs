/** What the exercises on listings have in common: a directory of random files, and what is wrong with a list of their names. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Fills a directory with empty files, some of which have the extension. Others only look as if they had it.
 *
 * @param extension - Without the dot.
 */
export function fillWithFiles(directory, random, extension) {
  mkdirSync(directory, { recursive: true })
  const name = () => random.word(random.integer(3, 8))
  const names = Array.from({ length: random.integer(2, 5) }, () => `${name()}.${extension}`)
  names.push(`${name()}.${extension}.txt`, `${name()}${extension}`, `${name()}.x${extension}`, `${name()}.js`)
  for (const each of random.shuffled(names)) writeFileSync(join(directory, each), '')
}

/**
 * On a program that finds nothing.
 *
 * @param extension - Without the dot.
 */
export function messageOnNothing(extension) {
  return {
    en: `No name was found. The argument is the extension without its dot, ${extension}, but extname('owl.md') has one: '.md'.`,
    de: `Kein Name wurde gefunden. Das Argument ist die Endung ohne Punkt, ${extension}, aber extname('owl.md') hat einen: '.md'.`
  }
}

/**
 * Why a list of names is wrong.
 *
 * @param actual - The names as the learner's program found them.
 * @param expected - The right ones.
 * @param extension - Without the dot.
 */
export function messageOnListing(actual, expected, extension) {
  const surplus = actual.find((name) => !expected.includes(name))
  const missing = expected.find((name) => !actual.includes(name))
  if (surplus === undefined && missing === undefined) {
    return {
      en: 'The names are right, but not in alphabetical order.',
      de: 'Die Namen stimmen, sind aber nicht in alphabetischer Reihenfolge.'
    }
  }
  if (surplus?.endsWith(`${extension}`) && !surplus.endsWith(`.${extension}`)) {
    return {
      en: `${surplus} does not have the extension ${extension}: there must be a dot right before it.`,
      de: `${surplus} hat nicht die Endung ${extension}: Direkt davor muss ein Punkt stehen.`
    }
  }
  if (surplus?.includes(`.${extension}.`)) {
    return {
      en: `${surplus} has another extension: what follows the last dot.`,
      de: `${surplus} hat eine andere Endung: das, was nach dem letzten Punkt kommt.`
    }
  }
  if (missing !== undefined && actual.some((name) => /[[\]']/.test(name))) {
    return {
      en: 'Your program prints an array. Print each name on a line of its own.',
      de: 'Dein Programm gibt ein Array aus. Gib jeden Namen auf einer eigenen Zeile aus.'
    }
  }
  if (missing !== undefined && actual.some((name) => name.endsWith(`/${missing}`))) {
    return {
      en: 'The names are wanted without the directory.',
      de: 'Gefragt sind die Namen ohne das Verzeichnis.'
    }
  }
  if (surplus !== undefined) {
    return { en: `${surplus} should not be listed.`, de: `${surplus} gehört nicht in die Liste.` }
  }
  return { en: `${missing} is missing.`, de: `${missing} fehlt.` }
}
