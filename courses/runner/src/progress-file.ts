/** The file of progress of one workshop, which several processes may use. */

import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync
} from 'node:fs'
import { dirname, join } from 'node:path'
import { withLock } from './lock-file.js'
import { noProgress, type Progress, readProgress, renameExercises } from './progress.js'

/** What happened to a file that was there: it was set aside as `name`. */
export interface SetAside {
  readonly reason: 'damaged' | 'newer'
  readonly name: string
}

export class ProgressFile {
  readonly path: string

  /**
   * @param directory - Made if it is missing.
   * @param renamed - By the former name of an exercise, its present one.
   * @param onSetAside - Told when a file cannot be used.
   */
  constructor(
    directory: string,
    workshop: string,
    private readonly renamed: Readonly<Record<string, string>>,
    private readonly onSetAside: (what: SetAside) => void
  ) {
    this.path = join(directory, `${workshop}.json`)
  }

  /** The progress as it is now. */
  read(): Progress {
    return this.locked(() => this.load())
  }

  /**
   * Changes the progress. No change of another process is lost, and when it returns, the change survives a loss of power. A
   * reader sees the file before or after, whole.
   */
  update(change: (progress: Progress) => void): Progress {
    return this.locked(() => {
      const progress = this.load()
      change(progress)
      this.store(progress)
      return progress
    })
  }

  private locked<T>(action: () => T): T {
    mkdirSync(dirname(this.path), { recursive: true })
    return withLock(`${this.path}.lock`, action)
  }

  private load(): Progress {
    if (!existsSync(this.path)) return noProgress()
    const reading = readProgress(readFileSync(this.path, 'utf8'))
    if (reading.kind === 'present' || reading.kind === 'converted') {
      renameExercises(reading.progress, this.renamed)
      return reading.progress
    }
    const name = this.freeName(reading.kind)
    renameSync(this.path, name)
    this.onSetAside({ reason: reading.kind, name })
    return noProgress()
  }

  private freeName(reason: string): string {
    const nameOf = (number: number): string => this.path.replace(/\.json$/, `.${reason}-${number}.json`)
    let number = 1
    while (existsSync(nameOf(number))) number += 1
    return nameOf(number)
  }

  private store(progress: Progress): void {
    const temporary = `${this.path}.${process.pid}.new`
    const file = openSync(temporary, 'w')
    try {
      writeFileSync(file, `${JSON.stringify(progress, null, 2)}\n`)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    renameSync(temporary, this.path)
    syncDirectory(dirname(this.path))
  }
}

/** Windows opens no directory, and needs no such call. */
function syncDirectory(directory: string): void {
  if (process.platform === 'win32') return
  const file = openSync(directory, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
