// Checked by the compiler, not run: what the declarations allow and what they refuse.

import { createReadStream, createWriteStream } from 'node:fs'
import { ClassicLevel } from 'classic-level'
import { Level } from 'terrace'
import {
  type CopySummary,
  copy,
  dump,
  dumpBytes,
  restore,
  type Summary,
  verifyDump
} from 'terrace-toolbox/copy'

export async function copies(): Promise<void> {
  const from = new ClassicLevel<number, string>('from', { keyEncoding: 'json' })
  const to = new Level('to')
  const copied: CopySummary = await copy(from, to, {
    range: { gt: 5 },
    existing: 'overwrite',
    onProgress: ({ phase, entries, bytes, estimatedBytes }) => void [phase, entries, bytes, estimatedBytes],
    signal: AbortSignal.timeout(1000),
    verify: false
  })
  const dumped: Summary = await dump(to, createWriteStream('dump'), { range: { lt: 'x' } })
  const restored: Summary = await restore(from, createReadStream('dump'), { batchSize: 5 })
  const verified: Summary = await verifyDump(new Response('').body ?? [])
  for await (const piece of dumpBytes(to)) void piece.byteLength
  void [copied, dumped, restored, verified]

  // @ts-expect-error there is no such choice
  await copy(from, to, { existing: 'append' })
  // @ts-expect-error a key is a number
  await copy(from, to, { range: { gt: 'a' } })
  // @ts-expect-error bytes are needed
  await restore(to, ['text'])
}
