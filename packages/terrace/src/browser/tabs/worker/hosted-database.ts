/** The database that a worker has open for tabs. */

import { openFirst, type StorageOptions } from '../../storage.js'
import type { Channel } from '../channel/channel.js'
import type { Hosted } from './database-worker.js'
import { Host } from './host.js'

/**
 * Opens a database, as {@link Hosted}.
 *
 * @param onLost - Called when the browser has removed it.
 */
export async function openHosted(
  location: string,
  options: object,
  onLost: (error: Error) => void
): Promise<Hosted> {
  const { backend, storage } = await openFirst(location, options as StorageOptions)
  backend.onLost = onLost
  const hosts = new Set<Host>()
  return {
    host(channel: Channel) {
      const host: Host = new Host(backend, channel, storage, () => hosts.delete(host))
      hosts.add(host)
    },
    async close() {
      try {
        await Promise.all([...hosts].map((host) => host.end()))
      } finally {
        await backend.close()
      }
    }
  }
}
