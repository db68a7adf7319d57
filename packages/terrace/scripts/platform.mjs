/** The name of the builds of the addon for this machine: a directory of `npm/`. */
export function platformName() {
  const { platform, arch } = process
  if (platform !== 'linux') return `${platform}-${arch}`
  // Node's own report names the version of glibc, and nothing if another C library is used.
  return `${platform}-${arch}-${process.report.getReport().header.glibcVersionRuntime ? 'gnu' : 'musl'}`
}
