// Archives that are the same bytes whenever they are made of the same files.

import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, lstatSync, lutimesSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { root } from './paths.mjs'

/** Empties `directory`. Returns a function that copies a file to a path in there, and returns the copy's own path. */
export function stageIn(directory) {
  rmSync(directory, { recursive: true, force: true })
  return (from, to, mode = 0o644) => {
    const target = join(directory, to)
    mkdirSync(dirname(target), { recursive: true })
    copyFileSync(from, target)
    chmodSync(target, mode)
    return target
  }
}

/**
 * Packs a directory, under its own name, into `archive`: by zip if it is called so, else as a compressed tar. Every file gets the time
 * of SOURCE_DATE_EPOCH, or of the commit.
 */
export function packDirectory(directory, archive) {
  const seconds = sourceSeconds()
  const files = filesOf(directory).map((file) => join(basename(directory), file))
  const options = { cwd: dirname(directory), env: { ...process.env, TZ: 'UTC', LC_ALL: 'C' } }
  rmSync(archive, { force: true })
  for (const file of files) settle(join(options.cwd, file), seconds)
  if (archive.endsWith('.zip')) {
    execFileSync('zip', ['-X', '-9', '--quiet', archive, '-@'], { ...options, input: files.join('\n') })
    return
  }
  const flags = ['--format=ustar', '--owner=0', '--group=0', '--numeric-owner']
  const names = ['--no-recursion', '--null', '--files-from=-']
  const tar = execFileSync('tar', ['--create', `--mtime=@${seconds}`, ...flags, ...names], {
    ...options,
    input: files.join('\0'),
    maxBuffer: 1 << 30
  })
  execFileSync('sh', ['-c', 'gzip --no-name --best >"$0"', archive], { ...options, input: tar })
}

/** Gives a file or link its time, and a file permissions without a trace of the umask. */
function settle(file, seconds) {
  const status = lstatSync(file)
  if (status.isFile()) chmodSync(file, status.mode & 0o100 ? 0o755 : 0o644)
  lutimesSync(file, seconds, seconds)
}

/** The files and links in a directory, sorted. */
function filesOf(directory) {
  return readdirSync(directory, { recursive: true })
    .filter((file) => !lstatSync(join(directory, file)).isDirectory())
    .sort()
}

function sourceSeconds() {
  const { SOURCE_DATE_EPOCH: epoch } = process.env
  if (epoch !== undefined) return Number(epoch)
  return Number(execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: root, encoding: 'utf8' }))
}
