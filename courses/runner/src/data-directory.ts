/** Where progress is kept. */

import { homedir } from 'node:os'
import { join } from 'node:path'

/** The directory that keeps progress when it is set. */
export const HOME_VARIABLE = 'TERRACE_WORKSHOP_HOME'

/** The user's directory for data of workshops. It may not exist yet. */
export function dataDirectory(env: NodeJS.ProcessEnv = process.env, platform = process.platform): string {
  const chosen = env[HOME_VARIABLE]
  return chosen ? chosen : join(dataHome(env, platform), 'terrace-workshops')
}

function dataHome(env: NodeJS.ProcessEnv, platform: NodeJS.Platform): string {
  if (platform === 'win32') return env.APPDATA || join(homedir(), 'AppData', 'Roaming')
  if (platform === 'darwin') return join(homedir(), 'Library', 'Application Support')
  return env.XDG_DATA_HOME || join(homedir(), '.local', 'share')
}
