/** Which processes have a database open. */

import { openStore } from './binding.js'
import { KeyCodec } from './keys.js'
import { DEFAULT_MAX_READERS } from './options.js'

/** The numbers of the processes that have the database open, which must exist. This process must not have it open in this thread. */
export async function usersOf(path: string): Promise<number[]> {
  const store = openStore(path, {
    keyEncoder: new KeyCodec(),
    readOnly: true,
    maxReaders: DEFAULT_MAX_READERS
  })
  try {
    store.readerCheck()
    return pidsIn(store.readerList())
  } finally {
    await store.close()
  }
}

function pidsIn(table: string): number[] {
  return Array.from(table.matchAll(/^\s*(\d+)\s/gm), ([, pid]) => Number(pid))
}
