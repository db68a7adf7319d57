/**
 * Keeps secrets out of what is printed. Programs redact at the one place where they print, back-ends where they make errors.
 *
 * A text that names a place is read conservatively: whatever could be a password counts as one. `s3://ID:a/b@bucket` has a slash in
 * its password, though a URL parser takes `ID` for the host.
 */

const MASK = '***'

/** A redacted text contains no run of this many characters of a secret. */
const RUN = 6

/** A scheme and the rest. A single letter is a Windows drive. */
const URL_PARTS = /^([a-z][a-z0-9+.-]+:(?:\/\/)?)(.*)$/is

/** A URL with a user and a password amid other text. */
const URL_WITHIN = /([a-z][a-z0-9+.-]+:\/\/)[^\s'":]*:[^\s'"]*@/gi

/** The parts of a URL that are not secret. */
export interface Shown {
  /** Whether the name of the user is shown. */
  readonly user?: boolean
  /** The parameters whose values are shown. */
  readonly parameters?: readonly string[]
}

/** Collects secrets, and removes them from text before it is printed. */
export class Redaction {
  /** All runs of {@link RUN} characters of the longer secrets. */
  readonly #runs = new Set<string>()
  /** Shorter secrets are masked as whole words: masking every `a` would reveal that the secret is `a`. */
  readonly #short = new Set<string>()

  /** Remembers a secret. */
  add(secret: string): void {
    for (const form of [secret, decoded(secret), decoded(secret).replaceAll(' ', '+')].map(folded)) {
      if (form.length < RUN && form !== '') this.#short.add(form)
      for (let i = 0; i + RUN <= form.length; i++) this.#runs.add(form.slice(i, i + RUN))
    }
  }

  /**
   * Remembers the secrets of a URL: everything before the last `@` except the scheme, the values of parameters, and the fragment.
   * Text without a scheme contains no secrets.
   *
   * @returns The URL without them.
   */
  addUrl(text: string, shown: Shown = {}): string {
    const [, scheme, rest] = URL_PARTS.exec(text) ?? []
    if (scheme === undefined || rest === undefined) return text
    const secret = (part: string): string => {
      this.add(part)
      return part === '' ? '' : MASK
    }

    const at = rest.lastIndexOf('@')
    const query = rest.search(/[?#]/)
    // It may be a password with a question mark, or a parameter with an @.
    if (query !== -1 && query < at) return scheme + secret(rest)

    const [, place, , parameters, , fragment] = /^([^?#]*)(\?([^#]*))?(#(.*))?$/s.exec(
      rest.slice(at + 1)
    ) as string[]
    let url = scheme
    if (at !== -1) url += `${shownUser(rest.slice(0, at), shown.user === true, secret)}@`
    url += place
    if (parameters !== undefined) url += `?${shownParameters(parameters, shown.parameters ?? [], secret)}`
    if (fragment !== undefined) url += `#${secret(fragment)}`
    return url
  }

  /** Returns the text without any run of six characters of a secret, however it is escaped. */
  redact(text: string): string {
    const isSecret = new Uint8Array(text.length)
    for (const view of viewsOf(text)) this.#mark(view, isSecret)
    let redacted = ''
    for (let i = 0; i < text.length; i++) {
      if (isSecret[i] === 0) redacted += text[i]
      else if (isSecret[i - 1] !== 1) redacted += MASK
    }
    return redacted.replace(URL_WITHIN, (url, scheme) =>
      // A user name that is known not to be secret stays.
      url.endsWith(`:${MASK}@`) ? url : `${scheme}${MASK}@`
    )
  }

  #mark({ text, starts }: View, isSecret: Uint8Array): void {
    const mark = (start: number, end: number): void => {
      isSecret.fill(1, starts[start], starts[end])
    }
    for (let i = 0; i + RUN <= text.length; i++) {
      if (this.#runs.has(text.slice(i, i + RUN))) mark(i, i + RUN)
    }
    for (const secret of this.#short) {
      for (let i = text.indexOf(secret); i !== -1; i = text.indexOf(secret, i + 1)) {
        const end = i + secret.length
        if (!isInWord(text, i) && !isInWord(text, end)) mark(i, end)
      }
    }
  }
}

/** Returns a URL for use in an error, without anything that may be secret. */
export function redactedUrl(url: string): string {
  return new Redaction().addUrl(url)
}

function shownUser(userInfo: string, isUserShown: boolean, secret: (part: string) => string): string {
  const [user = '', ...password] = userInfo.split(':')
  if (!isUserShown || /[/@]/.test(user)) {
    // A message may have either alone.
    for (const part of [user, password.join(':')]) secret(part)
    return secret(userInfo)
  }
  return password.length === 0 ? user : `${user}:${secret(password.join(':'))}`
}

function shownParameters(query: string, names: readonly string[], secret: (part: string) => string): string {
  return query
    .split('&')
    .map((parameter) => {
      const [, name, value] = /^([^=]*)=(.*)$/s.exec(parameter) ?? []
      if (name === undefined || value === undefined) return secret(parameter)
      return names.includes(name) ? parameter : `${name}=${secret(value)}`
    })
    .join('&')
}

/** A reading of a text, and where each of its characters begins in the text. */
interface View {
  readonly text: string
  readonly starts: readonly number[]
}

/** A text unchanged, with its percent-encoded characters decoded, and with its backslash escapes decoded. */
function* viewsOf(text: string): Generator<View> {
  yield viewOf(text, /$^/g, (escaped) => escaped)
  yield viewOf(text, /(?:%[0-9a-f]{2})+/gi, decoded)
  yield viewOf(text, /\\(?:u[0-9a-f]{4}|x[0-9a-f]{2}|[\s\S])/gi, unescaped)
}

function viewOf(text: string, escapes: RegExp, meaning: (escaped: string) => string): View {
  let view = ''
  const starts: number[] = []
  const push = (part: string, start: number, step: number): void => {
    for (let i = 0; i < part.length; i++) starts.push(start + i * step)
    view += part
  }
  let last = 0
  for (const { 0: escaped, index } of text.matchAll(escapes)) {
    push(text.slice(last, index), last, 1)
    push(meaning(escaped), index, 0)
    last = index + escaped.length
  }
  push(text.slice(last), last, 1)
  starts.push(text.length)
  return { text: folded(view), starts }
}

/** URL parsers put hosts into lower case, and thus a password that was taken for one. */
function folded(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
}

function isInWord(text: string, boundary: number): boolean {
  return /^[\p{L}\p{N}]{2}$/u.test(text.slice(boundary - 1, boundary + 1))
}

function decoded(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (escaped) => {
    try {
      return decodeURIComponent(escaped)
    } catch {
      return escaped
    }
  })
}

function unescaped(escaped: string): string {
  const hex = /^\\[ux]([0-9a-f]+)$/i.exec(escaped)?.[1]
  return hex === undefined ? escaped.slice(1) : String.fromCharCode(Number.parseInt(hex, 16))
}
