import type { ExportOptions, TransferProgress } from '../transfer-options.js'
import { textAt } from '../utf8.js'
import type { ArrivedAnswer, CallCodec } from './call-codec.js'
import { Call } from './channel/calls.js'
import type { WorkerConnection } from './worker-connection.js'

/** A file of an export, and how far that is. */
interface Next {
  readonly file: File
  readonly progress: TransferProgress
}

/** As {@link Level.export}, of the database that a worker has open. It ends with that worker. */
export async function* remoteExport(
  connection: WorkerConnection,
  codec: CallCodec,
  { onProgress }: ExportOptions
): AsyncGenerator<File, void, void> {
  const number = connection.handles.add({ forgotten() {} })
  connection.tell(codec.plain(Call.export, [number]))
  try {
    for (;;) {
      const next = await connection.ask('with state', codec.plain(Call.nextFile, [number], readNext))
      if (next === undefined) return
      onProgress?.(next.progress)
      yield next.file
    }
  } finally {
    if (connection.handles.remove(number)) connection.tell(codec.plain(Call.closeExport, [number]))
  }
}

function readNext({ words, bytes: data }: ArrivedAnswer): Next | undefined {
  if (words.length === 0) return undefined
  const [nameLength, files, bytes, totalBytes] = words as [number, number, number, number]
  const file = new File([data.slice(nameLength)], textAt(data, 0, nameLength))
  return { file, progress: { files, bytes, totalBytes } }
}
