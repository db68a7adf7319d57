/** What a learner's program may do, by Node's permission model. */

/** What a check may allow a program besides reading everything and writing into its own directory. */
export type Allowance = 'addons' | 'child-processes' | 'workers'

const FLAGS: Readonly<Record<Allowance, string>> = {
  addons: '--allow-addons',
  'child-processes': '--allow-child-process',
  workers: '--allow-worker'
}

const isKnown = (flag: string): boolean => process.allowedNodeEnvironmentFlags.has(flag)

/** The flag that turns the model on in this Node, if it has the model. */
const MODEL = ['--permission', '--experimental-permission'].find(isKnown)

/** Whether writes elsewhere are refused in this Node. */
export const isGuarded = MODEL !== undefined

/** The flags of Node for a program that may write into `directory` alone. */
export function permissionFlags(directory: string, allowances: readonly Allowance[]): string[] {
  if (MODEL === undefined) return []
  return [
    MODEL,
    '--disable-warning=ExperimentalWarning',
    '--disable-warning=SecurityWarning',
    '--allow-fs-read=*',
    `--allow-fs-write=${directory}`,
    // Newer Nodes refuse connections as well.
    ...(isKnown('--allow-net') ? ['--allow-net'] : []),
    ...allowances.map((each) => FLAGS[each])
  ]
}

/** What the model refused. */
export interface Denial {
  /** As Node names it, such as `FileSystemWrite`. */
  readonly permission: string
  /** The path, for a file. */
  readonly resource: string
}

/** What the model refused, as the error in the output of a program says. */
export function denialIn(output: string): Denial | undefined {
  const found = /code: 'ERR_ACCESS_DENIED',\s+permission: '(\w+)'(?:,\s+resource: (['"`])(.*)\2)?/.exec(
    output
  )
  if (found === null) return undefined
  return { permission: found[1] as string, resource: (found[3] ?? '').replaceAll('\\\\', '\\') }
}
