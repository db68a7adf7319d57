/** Keeps passwords and tokens out of everything that is printed. */

const MASK = '***'

/** Names of options and parameters whose values are secret. */
const SECRET_NAME = /pass|pwd|token|secret|credential|key/i

/** The user and the password in any URL within a text. */
const USER_INFO = /(\b[a-z][a-z0-9+.-]*:\/\/[^\s/:@]*):[^\s/]*@/gi

/** The password at the beginning of a URL, which may name several hosts. */
const URL_PASSWORD = /^[a-z][a-z0-9+.-]*:\/\/[^/?#:@]*:([^/?#]*)@/i

/** The secrets that are known so far. */
export class Secrets {
  readonly #known = new Set<string>()

  /** Remembers a secret, in each form in which a message may have it. */
  add(secret: string): void {
    if (secret === '') return
    for (const form of [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)]) {
      this.#known.add(form)
    }
  }

  /** Remembers those in options: the values whose names say so, at any depth. */
  addFrom(options: unknown, isSecret = false): void {
    if (typeof options === 'string' && isSecret) this.add(options)
    if (typeof options !== 'object' || options === null) return
    for (const [name, value] of Object.entries(options)) {
      this.addFrom(value, isSecret || SECRET_NAME.test(name))
    }
  }

  /** Remembers those in a URL: its password, and the parameters whose names say so. */
  addFromUrl(text: string): void {
    const password = URL_PASSWORD.exec(text)?.[1] ?? ''
    this.add(password)
    this.add(decoded(password))
    const [, query = ''] = text.split('?')
    for (const [name, value] of new URLSearchParams(query)) if (SECRET_NAME.test(name)) this.add(value)
  }

  /** A text without the secrets. */
  mask(text: string): string {
    // The longest first: a secret may begin with another.
    const known = [...this.#known].sort((a, b) => b.length - a.length)
    const masked = known.reduce((rest, secret) => rest.replaceAll(secret, MASK), text)
    return masked.replace(USER_INFO, `$1:${MASK}@`)
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
