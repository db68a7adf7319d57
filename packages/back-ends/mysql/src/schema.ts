/** The tables: how they are made, what is checked of them, and which number a database has. */

import type { Connection } from './connection.js'
import { mysqlError } from './errors.js'
import { DUPLICATE, type Failure, NO_SUCH_TABLE } from './failures.js'
import { MAX_KEY_SIZE_BYTES } from './keys.js'
import { type Binary, literal } from './literals.js'
import type { Tables } from './tables.js'

/** What {@link numberOf} needs to know. */
export interface Wanted {
  readonly createIfMissing?: boolean
  readonly errorIfExists?: boolean
}

function definitions({ data, names, commits }: Tables): Array<readonly [table: string, columns: string]> {
  return [
    [
      data,
      `n INT UNSIGNED NOT NULL, k VARBINARY(${MAX_KEY_SIZE_BYTES}) NOT NULL, v LONGBLOB NOT NULL, PRIMARY KEY (n, k)`
    ],
    [
      names,
      'n INT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, name VARBINARY(255) NOT NULL, UNIQUE KEY name (name)'
    ],
    [
      commits,
      'id BINARY(16) NOT NULL, seq BIGINT UNSIGNED NOT NULL, aborted TINYINT NOT NULL, at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, PRIMARY KEY (id, seq)'
    ]
  ]
}

/**
 * Returns the number of the database with this name, and makes it, and the tables, if that is wanted.
 *
 * @throws LEVEL_DATABASE_MISSING, LEVEL_DATABASE_EXISTS or LEVEL_UNSUPPORTED_FORMAT
 */
export async function numberOf(
  connection: Connection,
  tables: Tables,
  name: Binary,
  { createIfMissing, errorIfExists }: Wanted,
  end: number
): Promise<number> {
  const mayCreate = createIfMissing !== false
  for (const [table, columns] of definitions(tables)) {
    const definition = await definitionOf(connection, table, end)
    if (definition !== undefined) checkDefinition(table, definition, table === tables.data)
    else if (mayCreate) await create(connection, table, columns, end)
    else throw missing()
  }

  const found = await find(connection, tables, name, end)
  if (found !== undefined && errorIfExists) throw exists()
  if (found !== undefined) return found
  if (!mayCreate) throw missing()
  return add(connection, tables, name, errorIfExists === true, end)
}

async function definitionOf(connection: Connection, table: string, end: number): Promise<string | undefined> {
  try {
    const [row] = await connection.rows(`SHOW CREATE TABLE ${table}`, end)
    return `${row?.[1]}`
  } catch (error) {
    if ((error as Failure).errno === NO_SUCH_TABLE) return undefined
    throw error
  }
}

function create(connection: Connection, table: string, columns: string, end: number): Promise<unknown> {
  return connection.query(
    `CREATE TABLE IF NOT EXISTS ${table} (${columns}) ENGINE=InnoDB ROW_FORMAT=DYNAMIC`,
    end
  )
}

/** @throws LEVEL_UNSUPPORTED_FORMAT if the table cannot keep what is promised. */
export function checkDefinition(table: string, definition: string, isData: boolean): void {
  if (/ENGINE\s*=\s*['"`]?SPIDER/i.test(definition)) {
    throw unsupported(
      table,
      'has the engine Spider, whose snapshots and batches are torn across its shards, and which loses commits'
    )
  }
  const engine = /\bENGINE\s*=\s*(\w+)/i.exec(definition)?.[1]
  if (engine?.toLowerCase() !== 'innodb') throw unsupported(table, `has the engine ${engine}, not InnoDB`)
  if (isData && !DATA.test(definition))
    throw unsupported(table, 'has other columns than this program gives it')
}

const DATA = new RegExp(
  `\`n\` int(\\(10\\))? unsigned NOT NULL[\\s\\S]*\`k\` varbinary\\(${MAX_KEY_SIZE_BYTES}\\) NOT NULL[\\s\\S]*\`v\` longblob NOT NULL[\\s\\S]*PRIMARY KEY \\(\`n\`,\`k\`\\)`,
  'i'
)

async function find(
  connection: Connection,
  { names }: Tables,
  name: Binary,
  end: number
): Promise<number | undefined> {
  const [row] = await connection.rows(`SELECT n FROM ${names} WHERE name=${literal(name)}`, end)
  return row === undefined ? undefined : Number(row[0])
}

async function add(
  connection: Connection,
  tables: Tables,
  name: Binary,
  errorIfExists: boolean,
  end: number
): Promise<number> {
  try {
    await connection.query(`INSERT INTO ${tables.names} (name) VALUES (${literal(name)})`, end)
  } catch (error) {
    // Another process was faster.
    if ((error as Failure).errno !== DUPLICATE) throw error
    if (errorIfExists) throw exists()
  }
  return (await find(connection, tables, name, end)) as number
}

function missing(): Error {
  return mysqlError('LEVEL_DATABASE_MISSING', 'Database does not exist')
}

function exists(): Error {
  return mysqlError(
    'LEVEL_DATABASE_EXISTS',
    "Database exists already, and the option 'errorIfExists' is true"
  )
}

function unsupported(table: string, what: string): Error {
  return mysqlError('LEVEL_UNSUPPORTED_FORMAT', `The table ${table} ${what}`)
}
