/** Where the program lies that is running. */

import { isAbsolute } from 'node:path'

/** What of `process` says which program runs. `defaultApp` is Electron's: an app is run that is not packaged. */
export interface Started {
  readonly argv: readonly string[]
  readonly execPath: string
  readonly versions: Readonly<Record<string, string | undefined>>
  readonly defaultApp?: boolean
}

/**
 * The absolute path of the script that was started, or else of the executable, if no script was: then `argv[1]` is missing, or it is
 * an argument, such as a document that a packaged Electron app opens. Never a path in the working directory that nobody has started:
 * whoever may write there could place an addon in it.
 */
export function programFile({ argv, execPath, versions, defaultApp }: Started): string {
  const [, script] = argv
  const isPackaged = versions.electron !== undefined && !defaultApp
  return script !== undefined && isAbsolute(script) && !isPackaged ? script : execPath
}
