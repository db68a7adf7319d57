/**
 * Which database a directory holds, whatever path leads to it: the device and inode of its LOCK file, and when that was created.
 *
 * Nothing is stored. LOCK lives as long as the database, LevelDB keeps it, and removes it with the database. A copy has another
 * inode. An inode may be used again after a deletion, but not with the same time of creation. The number of a file on Windows is
 * not used again: NTFS counts in it how often the record was used. The time of creation is left out there, since wine gives that of
 * the last change for it, and every owner writes to LOCK. LOCK is never opened here: where locks belong to processes, closing it
 * would release the lock of an owner in this process.
 */

import { statSync } from 'node:fs'
import { join } from 'node:path'

/**
 * The identity of the database in a directory. On a file system that records no times of creation, such as NFS, it is the inode
 * alone.
 *
 * @throws ENOENT or another error of the system if there is no database.
 */
export function identityOf(location: string): string {
  const { dev, ino, birthtimeNs } = statSync(join(location, 'LOCK'), { bigint: true })
  return process.platform === 'win32' ? `${dev}-${ino}` : `${dev}-${ino}-${birthtimeNs}`
}
