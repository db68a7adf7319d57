/** Finds the file of the running program. */

import { isAbsolute } from 'node:path'

/** The part of `process` that identifies the running program. Electron sets `defaultApp` if the app is not packaged. */
export interface Started {
  readonly argv: readonly string[]
  readonly execPath: string
  readonly versions: Readonly<Record<string, string | undefined>>
  readonly defaultApp?: boolean
}

/**
 * The absolute path of the script that was started, or else of the executable, if no script was: then `argv[1]` is missing, or it
 * is an argument, such as a document that a packaged Electron app opens. Never a path in the working directory that was not
 * started: any user with write access there could place an addon in it.
 */
export function programFile({ argv, execPath, versions, defaultApp }: Started): string {
  const [, script] = argv
  const isPackaged = versions.electron !== undefined && !defaultApp
  return script !== undefined && isAbsolute(script) && !isPackaged ? script : execPath
}
