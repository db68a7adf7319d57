import type { ModuleLoader } from '../load-modules.js'
import type { ImportFile, ImportOptions, ImportSource, TransferProgress } from '../transfer-options.js'
import { storeOne } from '../wasm/arguments.js'
import { Engine } from '../wasm/engine.js'
import { directoryExists, directoryName, FilePool, removeDirectory } from './file-pool.js'
import { nextTurn } from './next-turn.js'

/** The files that make up a LevelDB database. Others in its directory are its lock, its info log, and leftovers. */
const NAMES = /^(CURRENT|MANIFEST-\d+|\d+\.(log|ldb|sst))$/

/** How many bytes are passed to the engine at once. */
const PIECE_BYTES = 1 << 20

/** As {@link Level.import}. */
export async function importDatabase(
  location: string,
  load: ModuleLoader,
  source: ImportSource,
  { overwrite, onProgress }: ImportOptions
): Promise<void> {
  const module = await load()
  const name = directoryName(location)
  const existed = await directoryExists(name)
  const pool = await FilePool.open(name, true)
  let isDone = false
  try {
    const engine = new Engine(module, (engine) => pool.imports(engine))
    pool.run(() => engine.call('terrace_import', Number(overwrite === true)))
    await new FileImport(pool, engine, onProgress).all(source)
    while (pool.run(() => engine.call('terrace_import_check')) === 1) await nextTurn()
    pool.run(() => engine.call('terrace_import_end'))
    isDone = true
  } finally {
    // Staged files are removed by the next open.
    pool.close()
    if (!isDone && !existed) await removeDirectory(name)
  }
}

/** Passes files to the engine. */
class FileImport {
  readonly #pool: FilePool
  readonly #engine: Engine
  readonly #onProgress: ImportOptions['onProgress']
  readonly #progress: TransferProgress = { files: 0, bytes: 0, totalBytes: undefined }

  constructor(pool: FilePool, engine: Engine, onProgress: ImportOptions['onProgress']) {
    this.#pool = pool
    this.#engine = engine
    this.#onProgress = onProgress
  }

  async all(source: ImportSource): Promise<void> {
    const files = isDirectory(source) ? await filesIn(source) : source
    if (Array.isArray(files)) {
      this.#progress.totalBytes = files.reduce((sum, file) => sum + (named(file)?.[1].size ?? 0), 0)
    }
    for await (const file of files) {
      const [name, contents] = named(file) ?? []
      if (name !== undefined && contents !== undefined) await this.#one(name, contents)
    }
  }

  async #one(name: string, contents: Blob): Promise<void> {
    const [pool, engine] = [this.#pool, this.#engine]
    if (engine.call('terrace_import_free_files') < FEW_FILES) await pool.grow()
    pool.run(() => engine.call('terrace_import_file', storeOne(engine, name)))
    for (let offset = 0; offset < contents.size; offset += PIECE_BYTES) {
      const piece = new Uint8Array(await contents.slice(offset, offset + PIECE_BYTES).arrayBuffer())
      pool.run(() => engine.call('terrace_import_write', storeOne(engine, piece)))
      this.#progress.bytes += piece.length
      this.#onProgress?.({ ...this.#progress })
    }
    pool.run(() => engine.call('terrace_import_file_end'))
    this.#progress.files++
  }
}

/** Opening the database takes some more. */
const FEW_FILES = 8

/** The name and the contents of a file; undefined if it does not belong to a database. */
function named(file: ImportFile): readonly [name: string, contents: Blob] | undefined {
  if (!(file instanceof Blob)) return NAMES.test(file[0]) ? file : undefined
  // A directory that a user has chosen comes with the files of the directories inside it, which are left out.
  const isDeeper = file.webkitRelativePath?.split('/').length > 2
  return NAMES.test(file.name) && !isDeeper ? [file.name, file] : undefined
}

function isDirectory(source: ImportSource): source is FileSystemDirectoryHandle {
  return typeof FileSystemDirectoryHandle !== 'undefined' && source instanceof FileSystemDirectoryHandle
}

async function filesIn(directory: FileSystemDirectoryHandle): Promise<File[]> {
  const files: File[] = []
  for await (const entry of directory.values()) {
    if (entry.kind === 'file') files.push(await (entry as FileSystemFileHandle).getFile())
  }
  return files
}
