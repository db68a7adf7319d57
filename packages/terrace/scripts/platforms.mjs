/**
 * The platforms that terrace has builds for: the one list from which the builds, the packages in `npm/` and the tests come. A key is
 * the name of the build and of the package, `target` is Rust's name, and `glibc` the oldest version of that library that the build
 * loads with.
 */
export const PLATFORMS = {
  'linux-x64-gnu': {
    title: 'Linux on x64 with glibc',
    os: 'linux',
    cpu: 'x64',
    libc: 'glibc',
    target: 'x86_64-unknown-linux-gnu',
    glibc: '2.17'
  },
  'linux-arm64-gnu': {
    title: 'Linux on arm64 with glibc',
    os: 'linux',
    cpu: 'arm64',
    libc: 'glibc',
    target: 'aarch64-unknown-linux-gnu',
    glibc: '2.17'
  },
  'linux-x64-musl': {
    title: 'Linux on x64 with musl',
    os: 'linux',
    cpu: 'x64',
    libc: 'musl',
    target: 'x86_64-unknown-linux-musl'
  },
  'linux-arm64-musl': {
    title: 'Linux on arm64 with musl',
    os: 'linux',
    cpu: 'arm64',
    libc: 'musl',
    target: 'aarch64-unknown-linux-musl'
  },
  'darwin-x64': {
    title: 'macOS on x64',
    os: 'darwin',
    cpu: 'x64',
    target: 'x86_64-apple-darwin',
    macos: '11.0'
  },
  'darwin-arm64': {
    title: 'macOS on arm64',
    os: 'darwin',
    cpu: 'arm64',
    target: 'aarch64-apple-darwin',
    macos: '11.0'
  },
  'win32-x64': { title: 'Windows on x64', os: 'win32', cpu: 'x64', target: 'x86_64-pc-windows-gnullvm' },
  'win32-arm64': {
    title: 'Windows on arm64',
    os: 'win32',
    cpu: 'arm64',
    target: 'aarch64-pc-windows-gnullvm'
  }
}
