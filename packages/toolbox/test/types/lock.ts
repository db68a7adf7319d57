// Checked by the compiler, not run: what the declarations allow and what they refuse.

import { MemoryLevel } from 'memory-level'
import { Level } from 'terrace'
import { type Locks, lock, type Release } from 'terrace-toolbox/lock'

export async function locks(): Promise<void> {
  const ofDatabase: Locks<string> = lock(new Level('directory'))
  const ofNumbers: Locks<number> = lock(new MemoryLevel<number, string>({ keyEncoding: 'json' }))
  const ofName: Locks<string | Uint8Array> = lock('jobs')

  const release: Release = await ofDatabase.acquire('a', { timeoutMs: 5, shared: true })
  release()
  release[Symbol.dispose]()
  await ofNumbers.acquire([1, 2], { signal: AbortSignal.timeout(5) })
  const five: number = await ofName.withLock(new Uint8Array(1), () => 5)
  const six: number = await ofName.withLock('a', async () => 6, { timeoutMs: 0 })
  void [five, six]

  // @ts-expect-error a key is a number
  await ofNumbers.acquire('a')
  // @ts-expect-error an option of another type
  await ofDatabase.acquire('a', { timeoutMs: '5' })
  // @ts-expect-error something to do is needed
  await ofDatabase.withLock('a')
}
