/** Makes a workshop in the terminal from a directory of exercises. */

export type { CheckModule, Example } from './check.js'
export type { CallOptions, CheckContext, Compared, RunOptions } from './context.js'
export type { Allowance } from './permission.js'
export type { Program, ProgramResult } from './program.js'
export type { Random } from './random.js'
export { runWorkshop } from './run-workshop.js'
export { type SelfCheckOptions, selfCheck } from './self-check.js'
export type { LocalText } from './workshop.js'
