/** The names of the three tables. */
export interface Tables {
  /** Keys and values, of many databases. */
  readonly data: string
  /** The databases' names and numbers. */
  readonly names: string
  /** The last transaction of each open database. It decides commits of unknown fate. */
  readonly commits: string
}

/** @throws TypeError if the name is not one of at most 48 letters, digits and underscores. */
export function tablesOf(table: unknown): Tables {
  if (typeof table !== 'string' || !/^[A-Za-z0-9_]{1,48}$/.test(table)) {
    throw new TypeError("The option 'table' must be a name of at most 48 letters, digits and underscores")
  }
  return { data: `\`${table}\``, names: `\`${table}_names\``, commits: `\`${table}_commits\`` }
}
