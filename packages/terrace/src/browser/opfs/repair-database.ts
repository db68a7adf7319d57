import { codedError } from 'terrace-core'
import type { LevelErrorCode } from '../../error-codes.js'
import type { RepairReport } from '../../repair-report.js'
import type { ModuleLoader } from '../load-modules.js'
import { Engine } from '../wasm/engine.js'
import { directoryExists, directoryName, FilePool } from './file-pool.js'

/** As {@link Level.repair}, on files. To be called in a dedicated worker, which does nothing else meanwhile. */
export async function repairDatabase(location: string, load: ModuleLoader): Promise<RepairReport> {
  const module = await load()
  const name = directoryName(location)
  if (!(await directoryExists(name))) {
    throw codedError<LevelErrorCode>('LEVEL_DATABASE_MISSING', 'There is no database that could be repaired')
  }
  const pool = await FilePool.open(name, false)
  try {
    const engine = new Engine(module, (engine) => pool.imports(engine))
    await pool.growWhile(() => engine.call('terrace_repair_wants_files') === 1)
    pool.run(() => engine.call('terrace_repair'))
    return reportOf(new TextDecoder().decode(engine.output()))
  } finally {
    pool.close()
  }
}

/** Numbers in a line, and the text for people. */
function reportOf(output: string): RepairReport {
  const end = output.indexOf('\n')
  const [nothingLost, lostBytes, entriesKept] = output.slice(0, end).split(' ').map(Number)
  return {
    nothingLost: nothingLost === 1,
    lostBytes: lostBytes as number,
    entriesKept: entriesKept as number,
    text: output.slice(end + 1)
  }
}
