/** The files of a directory that the user drops or chooses, and the databases among them. */

/** Directories nested deeper than this are not searched. */
const MOST_DEPTH = 12

/** The most files that are searched, in case the directory holds far more than a database. */
const MOST_FILES = 100_000

/** Files that only a LevelDB database has. */
const OF_DATABASE = /^(?:CURRENT|MANIFEST-\d+|\d+\.(?:ldb|sst|log))$/

/** The files that an `<input type=file webkitdirectory>` has, each with its path. */
export const filesOfInput = (input) =>
  Array.from(input.files, (file) => ({ path: file.webkitRelativePath || file.name, file }))

/** The files that were dropped, with those in directories. Must be called while the event is handled. */
export function filesOfDrop({ items, files }) {
  const dropped = Array.from(items).filter(({ kind }) => kind === 'file')
  const entries = dropped.map((item) => item.webkitGetAsEntry?.()).filter(Boolean)
  if (entries.length === 0) return Promise.resolve(Array.from(files, (file) => ({ path: file.name, file })))
  const handles = dropped.map((item) => item.getAsFileSystemHandle?.())
  return filesOfHandles(handles).catch(() => filesOfEntries(entries))
}

async function filesOfHandles(promises) {
  const found = []
  for (const handle of await Promise.all(promises)) {
    if (handle === undefined || handle === null) throw new Error('This browser has no handles')
    await addHandle(handle, handle.name, 0, found)
  }
  return found
}

async function addHandle(handle, path, depth, found) {
  if (found.length >= MOST_FILES) return
  if (handle.kind === 'file') found.push({ path, file: await handle.getFile() })
  else if (depth < MOST_DEPTH) {
    for await (const child of handle.values())
      await addHandle(child, `${path}/${child.name}`, depth + 1, found)
  }
}

async function filesOfEntries(entries) {
  const found = []
  for (const entry of entries) await addEntry(entry, entry.name, 0, found)
  return found
}

async function addEntry(entry, path, depth, found) {
  if (found.length >= MOST_FILES) return
  if (entry.isFile) {
    found.push({ path, file: await new Promise((resolve, reject) => entry.file(resolve, reject)) })
  } else if (depth < MOST_DEPTH) {
    const reader = entry.createReader()
    while (true) {
      const children = await new Promise((resolve, reject) => reader.readEntries(resolve, reject))
      if (children.length === 0) break
      for (const child of children) await addEntry(child, `${path}/${child.name}`, depth + 1, found)
    }
  }
}

/**
 * The databases among files: each directory that holds a file of LevelDB. Returns their `path`, `name`, `files` and `sizeBytes`,
 * those with a file CURRENT first.
 */
export function databasesIn(files) {
  const directories = new Map()
  for (const { path, file } of files) {
    const directory = path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : ''
    if (!directories.has(directory)) directories.set(directory, [])
    directories.get(directory).push(file)
  }
  return Array.from(directories, ([path, files]) => ({
    path,
    name: path === '' ? 'files' : path.slice(path.lastIndexOf('/') + 1),
    files,
    isWhole: files.some(({ name }) => name === 'CURRENT'),
    sizeBytes: files.reduce((sum, { size }) => sum + size, 0)
  }))
    .filter(({ files }) => files.some(({ name }) => OF_DATABASE.test(name)))
    .sort((a, b) => Number(b.isWhole) - Number(a.isWhole) || a.path.localeCompare(b.path))
}
