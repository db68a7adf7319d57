import { argumentError } from './errors.js'
import type { TransactionOptions } from './types.js'

const DEFAULT_RETRIES = 10

/** The options of a transaction, with defaults filled in. */
export interface CheckedOptions {
  readonly retries: number
  readonly signal: AbortSignal | undefined
  readonly sync: boolean
}

/** The values used for missing options. */
export const defaultOptions: CheckedOptions = { retries: DEFAULT_RETRIES, signal: undefined, sync: false }

/**
 * Fills in defaults for missing options.
 *
 * @throws TRANSACTION_INVALID_ARGUMENT if an option is not valid.
 */
export function checkedOptions(
  options: TransactionOptions | undefined,
  defaults: CheckedOptions
): CheckedOptions {
  if (options === undefined) return defaults
  if (typeof options !== 'object' || options === null) throw argumentError('Options must be an object')

  const { retries = defaults.retries, signal = defaults.signal, sync = defaults.sync } = options

  if (!(Number.isInteger(retries) && retries >= 0) && retries !== Number.POSITIVE_INFINITY) {
    throw argumentError("The option 'retries' must be a whole number, 0 or more, or Infinity")
  }

  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw argumentError("The option 'signal' must be an AbortSignal")
  }

  if (typeof sync !== 'boolean') throw argumentError("The option 'sync' must be true or false")
  return { retries, signal, sync }
}
