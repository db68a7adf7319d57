// The program for one platform: as the file that a package of npm has, and as an archive with its manual.

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileOf } from '../../packages/terrace/scripts/cargo-build.mjs'
import { PLATFORMS } from '../../packages/terrace/scripts/platforms.mjs'
import { versionOf } from '../version.mjs'
import { packDirectory, stageIn } from './archive.mjs'
import { archiveFile, archiveName, programFile, programName, root } from './paths.mjs'

const crate = join(root, 'crates', 'cli')
const manual = join(root, 'docs', 'man')

export const program = { crate: 'terrace-cli', isStatic: true, isWhole: true, assemble }

/** What a program is to its system, see {@link complaints}. With musl it has the C library in it. */
export function expectedOfProgram({ libc }) {
  return { exports: [], exportsMore: true, isStatic: libc === 'musl' }
}

function assemble(name, files, directory) {
  const platform = PLATFORMS[name]
  const packed = archiveName('terrace', versionOf(root), name)
  const stage = join(directory, packed)
  const install = stageIn(stage)
  const built = install(fileOf(files, /^terrace(\.exe)?$/), programName(platform), 0o755)
  install(join(root, 'LICENSE'), 'LICENSE')
  for (const file of ['README.md', 'THIRD-PARTY-LICENSES.txt']) install(join(crate, file), file)
  for (const page of readdirSync(manual)) install(join(manual, page), join('man', 'man1', page))

  const result = archiveFile(packed, platform, directory)
  packDirectory(stage, result)
  return {
    result,
    binary: built,
    expected: expectedOfProgram(platform),
    wrong: [],
    places: [
      [result, archiveFile(packed, platform)],
      [built, programFile(name)]
    ]
  }
}
