import { textAt } from '../text.js'
import type { ExportOptions, TransferProgress } from '../transfer-options.js'
import { Call } from './calls.js'
import type { ReadAnswer, Requests } from './requests.js'

/** A file of an export, and how far that is. */
interface Next {
  readonly file: File
  readonly progress: TransferProgress
}

/** As {@link Level.export}, of the database that a worker has open. It ends with that worker. */
export async function* remoteExport(
  requests: Requests,
  { onProgress }: ExportOptions
): AsyncGenerator<File, void, void> {
  const number = requests.handles.add({ forgotten() {} })
  requests.tell(Call.export, requests.bytes.end, [number])
  try {
    for (;;) {
      const next = await requests.ask(Call.nextFile, requests.bytes.end, [number], 'with state', readNext)
      if (next === undefined) return
      onProgress?.(next.progress)
      yield next.file
    }
  } finally {
    if (requests.handles.remove(number)) requests.tell(Call.closeExport, requests.bytes.end, [number])
  }
}

const readNext: ReadAnswer<Next | undefined> = (words, data) => {
  if (words.length === 0) return undefined
  const [nameLength, files, bytes, totalBytes] = words as [number, number, number, number]
  const file = new File([data.slice(nameLength)], textAt(data, 0, nameLength))
  return { file, progress: { files, bytes, totalBytes } }
}
