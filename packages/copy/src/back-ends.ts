/**
 * The back-ends that a database can be copied from and to. They are listed in `back-ends.json`, which tests, benchmarks, the site and
 * the program `terrace` read as well.
 */

/** A back-end, as the list describes it. */
export interface BackEnd {
  /** The npm package. */
  readonly package: string
  /** The title of its page on the site, if the package serves only this back-end. */
  readonly title?: string
  /** The name of its class. */
  readonly class: string
  /** The lower-case schemes that the name of such a database begins with, before a colon. */
  readonly schemes: readonly string[]
  /**
   * The first argument of the class: the `path` after the scheme; the `rest` after it, whatever that is; or the whole text, as a
   * `url`, which may have a password, or an `address`.
   */
  readonly location: 'path' | 'rest' | 'url' | 'address'
  /** Parameters of a URL that are options of the class. */
  readonly parameters?: readonly string[]
  /** The option of the class that takes a token. */
  readonly token?: string
  /** How to name such a database, for the usage text. */
  readonly usage: string
  /** A description of such a database, for the usage text. */
  readonly what: string
  /** A URL with all of its parts, for the error about an invalid one. */
  readonly example?: string
  /**
   * Options to read from a database that others may be using. SlateDB's: without `readOnly`, reading would take the database from its
   * writer; a copy may take longer than an hour.
   */
  readonly reading: object
  /**
   * Options to write many batches, of which the last is synced. SlateDB's: each batch would wait for a flush otherwise. If the
   * process is killed, only the newest writes are lost, and the end of a copy is synced.
   */
  readonly writing?: object
}

export const backEnds: Readonly<Record<string, BackEnd>> = require('../back-ends.json')

/** The back-end of what is named without a scheme. */
export const LEVEL = backEnds.level as BackEnd

/** All schemes, each with its back-end. */
export const schemes: ReadonlyMap<string, BackEnd> = new Map(
  Object.values(backEnds).flatMap((backEnd) => backEnd.schemes.map((scheme) => [scheme, backEnd]))
)

const SCHEME = /^([a-z][a-z0-9+.-]*):/i

/** The scheme that a text begins with, in small letters, and the back-end that it names, if it is known. */
export function schemeOf(text: string): { readonly scheme: string; readonly backEnd?: BackEnd } | undefined {
  // Schemes may be written in capital letters.
  const scheme = SCHEME.exec(text)?.[1]?.toLowerCase()
  return scheme === undefined ? undefined : { scheme, backEnd: schemes.get(scheme) }
}

const USAGE_WIDTH = 27
const WHAT_WIDTH = 41

/** The back-ends as help lists them: how a database is named, what it is, and the package that it needs. */
export function listed(): string {
  return Object.values(backEnds)
    .flatMap(({ usage, what, package: name }, i) => {
      const [first = '', ...more] = wrapped(what)
      const needed = i === 0 ? `needs the package ${name}` : name
      const isShort = usage.length < USAGE_WIDTH
      return [
        ...(isShort ? [] : [usage]),
        `${(isShort ? usage : '').padEnd(USAGE_WIDTH)}${first.padEnd(WHAT_WIDTH)}${needed}`,
        ...more.map((line) => `${''.padEnd(USAGE_WIDTH)}${line}`)
      ]
    })
    .map((line) => `  ${line}`)
    .join('\n')
}

function wrapped(text: string): string[] {
  return text.match(new RegExp(`.{1,${WHAT_WIDTH - 1}}(?= |$)`, 'g'))?.map((line) => line.trim()) ?? []
}
