import { textAt } from '../text.js'
import type { ExportOptions, TransferProgress } from '../transfer-options.js'
import type { ArrivedAnswer, CallCodec } from './call-codec.js'
import { Call } from './calls.js'
import type { Requests } from './requests.js'

/** A file of an export, and how far that is. */
interface Next {
  readonly file: File
  readonly progress: TransferProgress
}

/** As {@link Level.export}, of the database that a worker has open. It ends with that worker. */
export async function* remoteExport(
  requests: Requests,
  codec: CallCodec,
  { onProgress }: ExportOptions
): AsyncGenerator<File, void, void> {
  const number = requests.handles.add({ forgotten() {} })
  requests.tell(codec.plain(Call.export, [number]))
  try {
    for (;;) {
      const next = await requests.ask('with state', codec.plain(Call.nextFile, [number], readNext))
      if (next === undefined) return
      onProgress?.(next.progress)
      yield next.file
    }
  } finally {
    if (requests.handles.remove(number)) requests.tell(codec.plain(Call.closeExport, [number]))
  }
}

function readNext({ words, bytes: data }: ArrivedAnswer): Next | undefined {
  if (words.length === 0) return undefined
  const [nameLength, files, bytes, totalBytes] = words as [number, number, number, number]
  const file = new File([data.slice(nameLength)], textAt(data, 0, nameLength))
  return { file, progress: { files, bytes, totalBytes } }
}
