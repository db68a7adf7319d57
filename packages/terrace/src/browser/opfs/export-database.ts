import type { ExportOptions } from '../transfer-options.js'
import type { CopiedFiles } from './copied-files.js'

/** What makes copies of its state. */
interface Copied {
  copy(): Promise<CopiedFiles>
  release(copy: CopiedFiles): void
}

/** As {@link Level.export}, on a database that is open. */
export async function* exportDatabase(
  backend: Copied,
  { onProgress }: ExportOptions
): AsyncGenerator<File, void, void> {
  const copy = await backend.copy()
  const totalBytes = copy.files.reduce((sum, file) => sum + file.sizeBytes, 0)
  const progress = { files: 0, bytes: 0, totalBytes }
  try {
    for (const file of copy.files) {
      const pieces: BlobPart[] = []
      for await (const piece of copy.pieces(file)) {
        pieces.push(piece)
        progress.bytes += piece.length
        onProgress?.({ ...progress })
      }
      progress.files++
      yield new File(pieces, file.name)
    }
  } finally {
    backend.release(copy)
  }
}
