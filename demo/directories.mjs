// Copies and sizes of database directories.

import { cp, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'

/** Copies a directory of testdata; tables stored as .gz are unpacked. */
export async function copyDatabase(source, target) {
  await mkdir(target, { recursive: true })
  for (const name of await readdir(source)) {
    const from = path.join(source, name)
    if (name.endsWith('.gz'))
      await writeFile(path.join(target, name.slice(0, -3)), gunzipSync(await readFile(from)))
    else await cp(from, path.join(target, name))
  }
}

/** Bytes of all files in a directory. */
export async function directorySize(directory) {
  const names = await readdir(directory)
  const sizes = await Promise.all(names.map(async (name) => (await stat(path.join(directory, name))).size))
  return sizes.reduce((sum, size) => sum + size, 0)
}
