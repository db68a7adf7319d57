/** Which builds of the native addon there are, and which of them can run here. */

import { existsSync } from 'node:fs'

/** The part of `process` that identifies the platform. Bun and Deno may have no report. */
export interface Runtime {
  readonly platform: string
  readonly arch: string
  readonly report?: { getReport?(): unknown; excludeNetwork?: boolean }
}

/** Names of all published builds, as in `npm/`. */
export const BUILDS: readonly string[] = [
  'linux-x64-gnu',
  'linux-arm64-gnu',
  'linux-x64-musl',
  'linux-arm64-musl',
  'darwin-x64',
  'darwin-arm64',
  'win32-x64',
  'win32-arm64'
]

/**
 * Names of the builds that can run here, the likeliest first. On Linux either C library may be in use; if the guess is wrong, the
 * caller tries the other build. A name may belong to a build that is not published, but that a checkout can make.
 */
export function buildsFor(runtime: Runtime, exists: (path: string) => boolean = existsSync): string[] {
  const { platform, arch } = runtime
  if (platform !== 'linux') return [`${platform}-${arch}`]
  const names = [`linux-${arch}-gnu`, `linux-${arch}-musl`]
  const isMusl = exists(muslLoader(arch)) && glibcVersion(runtime) === undefined
  return isMusl ? names.reverse() : names
}

/** The file that exists wherever musl is installed. Few systems have it, and only those need a report, which takes milliseconds. */
function muslLoader(arch: string): string {
  const processor = { x64: 'x86_64', arm64: 'aarch64' }[arch] ?? arch
  return `/lib/ld-musl-${processor}.so.1`
}

/** The version of glibc that is running; `undefined` if it is another C library, or unknown. */
export function glibcVersion({ report }: Runtime): string | undefined {
  if (typeof report?.getReport !== 'function') return undefined
  const { excludeNetwork } = report
  // Otherwise Node looks up the names of all connected addresses.
  report.excludeNetwork = true
  try {
    const { header } = report.getReport() as { header?: { glibcVersionRuntime?: string } }
    return header?.glibcVersionRuntime
  } finally {
    if (excludeNetwork !== undefined) report.excludeNetwork = excludeNetwork
  }
}
