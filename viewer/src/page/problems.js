/** Describes what went wrong and what to do. */

const UNKNOWN_ORDER = /unknown order/

/** The user gave files among which there is no database. */
export function notADatabase(files) {
  const title = files.length === 0 ? 'The directory is empty' : 'This is not a LevelDB directory'
  return {
    title,
    text:
      'A LevelDB database is a directory with a file CURRENT, a file MANIFEST-…, and files such as 000005.ldb and 000007.log. ' +
      'Choose that directory, or one that contains it.',
    places: [
      ['Chromium, Local Storage', 'Local Storage/leveldb in the profile'],
      ['Chromium, IndexedDB', 'IndexedDB/….indexeddb.leveldb in the profile'],
      ['Minecraft Bedrock', 'db in the directory of a world']
    ]
  }
}

/** An error of the worker. `canRepair` means that the intact entries can be shown. */
export function problemOf(error, name) {
  if (error.refusal !== undefined) {
    return {
      title: 'The browser could not read a file',
      text:
        `${error.message}. A program has probably changed or removed the file since you chose the directory (${error.refusal}). ` +
        'Close the program that uses the database, or copy the directory, and choose it again.'
    }
  }
  switch (error.code) {
    case 'LEVEL_CORRUPTION':
      return {
        title: 'The database is damaged',
        text: `${error.message}.`,
        advice:
          'What is intact can be shown: the viewer repairs a copy in memory, and your files stay unchanged. ' +
          `To repair the files themselves, copy the directory and run “terrace repair ${name}”.`,
        canRepair: true
      }
    case 'LEVEL_DATABASE_MISSING':
      return notADatabase([])
    case 'LEVEL_UNSUPPORTED_FORMAT':
      return {
        title: 'The viewer does not know this format',
        text: `${error.message}.`,
        advice: UNKNOWN_ORDER.test(error.message)
          ? 'It knows leveldb.BytewiseComparator, which nearly all programs use, and Chromium’s idb_cmp1. “terrace inspect” reads single files in any order.'
          : 'It may be of RocksDB, or of a newer program.'
      }
    default:
      return {
        title: 'The viewer has failed',
        text: `${error.message}.`,
        advice: 'Reload the page, then open the directory again.'
      }
  }
}
