/** Turns the command line into settings. Error messages name the valid choices. */

import { existsSync, readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { UsageError } from './errors.js'
import { DEFAULTS } from './settings.js'
import { RANDOM_WRITES, WORKLOADS } from './workloads/index.js'

const TEXT = /** @type {const} */ ({ type: 'string' })
const FLAG = /** @type {const} */ ({ type: 'boolean' })
const ENCODINGS = ['utf8', 'buffer', 'view', 'json']

const OPTIONS = {
  run: {
    n: { ...TEXT, short: 'n' },
    concurrency: TEXT,
    'batch-size': TEXT,
    'value-size': TEXT,
    'compressible-percent': TEXT,
    'key-order': TEXT,
    'key-distribution': TEXT,
    'key-encoding': TEXT,
    'value-encoding': TEXT,
    'read-percent': TEXT,
    'read-options': TEXT,
    stores: TEXT,
    tables: TEXT,
    repeats: TEXT,
    seconds: TEXT,
    sync: FLAG,
    compacted: FLAG,
    'no-yield': FLAG,
    seed: TEXT,
    rounds: TEXT,
    db: { ...TEXT, multiple: true },
    class: TEXT,
    'in-memory': FLAG,
    dir: TEXT,
    results: TEXT,
    reference: TEXT,
    'skip-missing': FLAG,
    help: { ...FLAG, short: 'h' }
  },
  report: { reference: TEXT, help: { ...FLAG, short: 'h' } },
  plot: { out: TEXT, help: { ...FLAG, short: 'h' } }
}

/** @typedef {{ values: Record<string, any>, positionals: string[] }} Parsed */

/**
 * @param {keyof typeof OPTIONS} command
 * @param {string[]} args
 * @returns {Parsed}
 */
export function parse(command, args) {
  try {
    return parseArgs({ args, options: /** @type {any} */ (OPTIONS[command]), allowPositionals: true })
  } catch (error) {
    const { message } = /** @type {Error} */ (error)
    throw new UsageError(`${message}\nSee terrace-bench ${command} --help`)
  }
}

/**
 * The settings of `run`.
 * @param {Parsed} parsed
 */
export function runSettings({ values, positionals }) {
  const [workload, ...targets] = positionals
  if (workload === undefined || !Object.hasOwn(WORKLOADS, workload)) {
    const names = Object.keys(WORKLOADS).join(', ')
    throw new UsageError(
      `${workload === undefined ? 'name a workload' : `unknown workload ${workload}`}: ${names}`
    )
  }
  const { defaults, rounds } = WORKLOADS[workload]
  const fallback = { ...DEFAULTS, ...defaults }
  const keyOrder = choice(values, 'key-order', ['sorted', 'random'], fallback.keyOrder)
  const isRandomWrite = workload === 'sorted-write' && keyOrder === 'random'

  /** @type {import('./settings.js').Settings} */
  const settings = {
    n: number(values, 'n', isRandomWrite ? RANDOM_WRITES : fallback.n),
    concurrency: number(values, 'concurrency', fallback.concurrency),
    batchSize: number(values, 'batch-size', fallback.batchSize),
    valueSize: number(values, 'value-size', fallback.valueSize),
    compressiblePercent: number(values, 'compressible-percent', fallback.compressiblePercent, 0, 100),
    keyOrder: /** @type {'sorted' | 'random'} */ (keyOrder),
    keyDistribution: /** @type {'uniform' | 'zipfian'} */ (
      choice(values, 'key-distribution', ['uniform', 'zipfian'], fallback.keyDistribution)
    ),
    keyEncoding: choice(values, 'key-encoding', ENCODINGS, fallback.keyEncoding),
    valueEncoding: choice(values, 'value-encoding', ENCODINGS, fallback.valueEncoding),
    readPercent: number(values, 'read-percent', fallback.readPercent, 0, 100),
    readOptions:
      values['read-options'] === undefined
        ? fallback.readOptions
        : objectOf('read-options', values['read-options'], values['read-options']),
    stores: number(values, 'stores', fallback.stores),
    tables: number(values, 'tables', fallback.tables),
    repeats: number(values, 'repeats', fallback.repeats),
    seconds: number(values, 'seconds', fallback.seconds),
    sync: values.sync === true || fallback.sync,
    compacted: values.compacted === true,
    yieldTurns: values['no-yield'] !== true && fallback.yieldTurns,
    seed: number(values, 'seed', fallback.seed, 0)
  }

  return {
    workload,
    targets: targets.length > 0 ? targets : ['terrace'],
    settings,
    rounds: number(values, 'rounds', rounds ?? 3),
    databaseOptions: databaseOptions(values.db ?? []),
    className: values.class,
    inMemory: values['in-memory'] === true,
    dir: values.dir,
    results: values.results,
    reference: values.reference,
    skipMissing: values['skip-missing'] === true
  }
}

/**
 * @param {Record<string, any>} values
 * @param {string} name
 * @param {number} fallback
 */
function number(values, name, fallback, least = 1, most = 2 ** 32 - 1) {
  const text = values[name]
  if (text === undefined) return fallback
  const value = Number(String(text).replaceAll('_', ''))
  if (Number.isInteger(value) && value >= least && value <= most) return value
  throw new UsageError(
    `--${name} must be an integer from ${least} to ${most}, such as 1000 or 1e6: not ${text}`
  )
}

/**
 * @param {Record<string, any>} values
 * @param {string} name
 * @param {string[]} choices
 * @param {string} fallback
 */
function choice(values, name, choices, fallback) {
  const value = values[name]
  if (value === undefined) return fallback
  if (choices.includes(value)) return value
  throw new UsageError(`--${name} must be one of ${choices.join(', ')}: not ${value}`)
}

/**
 * `--db '{"cacheSize": 1}'` applies to all targets, `--db terrace='{…}'` to one. The name of a .json file may replace the
 * object.
 * @param {string[]} given
 * @returns {{ [target: string]: object, all: object }}
 */
function databaseOptions(given) {
  /** @type {{ [target: string]: object, all: object }} */
  const options = { all: {} }
  for (const text of given) {
    const [, target = 'all', json] = /** @type {RegExpMatchArray} */ (text.match(/^(?:([^={]+)=)?([\s\S]*)$/))
    options[target] = { ...options[target], ...objectOf('db', json, text) }
  }
  return options
}

const EXAMPLES = { db: '{"cacheSize": 1048576}', 'read-options': '{"fillCache": false}' }

/**
 * @param {keyof typeof EXAMPLES} option
 * @param {string} json
 * @param {string} given
 */
function objectOf(option, json, given) {
  const how = `--${option} wants an object of JSON or a file of it, such as --${option} '${EXAMPLES[option]}'`
  const isFile = json.endsWith('.json')
  if (isFile && !existsSync(json)) throw new UsageError(`${how}: there is no file ${json}`)
  try {
    const value = JSON.parse(isFile ? readFileSync(json, 'utf8') : json)
    if (value !== null && typeof value === 'object' && !Array.isArray(value)) return value
  } catch {
    // Reported below, like JSON that is not an object.
  }
  throw new UsageError(`${how}: not ${given}`)
}
