/** The name of the builds of the addon for this machine: a directory of `npm/`. */
export function platformName() {
  const { platform, arch } = process
  // Node's own report names the version of glibc, and nothing if another C library is used.
  const suffixes = {
    linux: process.report.getReport().header.glibcVersionRuntime ? '-gnu' : '-musl',
    win32: '-msvc'
  }
  return `${platform}-${arch}${suffixes[platform] ?? ''}`
}
