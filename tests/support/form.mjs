// The form in which tests run: the short one for every change, the full one before an issue is closed or a version released.

/** Whether tests take their short form: `make test` asks for it. A test run alone takes its full form. */
export const isShort = process.env.TERRACE_SHORT === '1'

/**
 * How often something is done in this form: a tenth of the times in the short one.
 *
 * @param {number} count - How often in the full form.
 * @param {number} [least] - How often at least.
 */
export function scaled(count, least = 1) {
  return isShort ? Math.min(count, Math.max(least, Math.ceil(count / 10))) : count
}

/**
 * Of cases that differ little: all in the full form, in the short one the first, the last, and every so many between them.
 *
 * @template Case
 * @param {Case[]} cases
 * @param {number} [step] - From one to the next in the short form.
 */
export function someOf(cases, step = 3) {
  return isShort ? cases.filter((_, i) => i % step === 0 || i === cases.length - 1) : cases
}
