/** What to do when no native addon could be loaded, as an error. */

import { BUILDS, glibcVersion, type Runtime } from './platform.js'

/** A file that was found and did not load, and what the system said. */
export interface Failure {
  readonly file: string
  readonly message: string
}

const COMPILE =
  'In a checkout of terrace, "npm run build:native" in packages/terrace compiles the native part (it needs Rust)'

/** The error after none of the builds `names` loaded, with `failures` of those that were there. */
export function loadError(runtime: Runtime, names: readonly string[], failures: readonly Failure[]): Error {
  const { platform, arch } = runtime
  const where = `${platform} on ${arch}`
  if (failures.length > 0) {
    const reasons = failures.map(
      (failure) => `${failure.file}: ${failure.message}\n  ${advice(runtime, failure)}`
    )
    return new Error(
      `The native part of terrace for ${where} was found but failed to load.\n${reasons.join('\n')}`
    )
  }

  if (!names.some((name) => BUILDS.includes(name))) {
    return new Error(
      `The native part of terrace is not published for ${where}, only for ${BUILDS.join(', ')}. ${COMPILE}: ` +
        `copy terrace.${names[0]}.node from there into the directory of the installed package.`
    )
  }

  const packages = names.map((name) => `@terrace-db/${name}`).join(' or ')
  return new Error(
    `The native part of terrace for ${where} is missing. It comes with the optional ` +
      `package ${packages}: install terrace again without --omit=optional, and on the platform where it is to run. ` +
      'If the program is bundled, leave terrace out of the bundle (esbuild: --external:terrace), or copy ' +
      `terrace.node of that package beside the bundle as terrace.${names[0]}.node; a bundle that is an ES module finds it there with ` +
      `the banner of terrace's README. ${COMPILE}.`
  )
}

/** Messages of the systems' loaders, with what to do. The first that fits counts. */
const ADVICE: readonly (readonly [RegExp, (runtime: Runtime, match: RegExpExecArray) => string])[] = [
  [
    /GLIBC_([\d.]+)['’]? not found/,
    (runtime, [, needed]) => {
      const present = glibcVersion(runtime)
      return (
        `It needs glibc ${needed} or newer${present ? `, and this system has ${present}` : ''}: run it on a newer system, or compile it ` +
        `on this one. ${COMPILE}.`
      )
    }
  ],
  [
    /ld-linux|ld-musl|libc\.so\b|libc\.musl|symbol not found|undefined symbol/,
    () =>
      'It was built for another C library (glibc or musl) than the one that is running: install terrace again on the system where it is to ' +
      'run. A node_modules directory cannot be copied from Debian or Ubuntu to Alpine, or back.'
  ],
  [
    /code signature/i,
    () =>
      'macOS does not accept the signature of the file in this program: install terrace again, so that the file is as it was published; ' +
      'sign it with the app, if the app is signed (codesign); or give the app the entitlement ' +
      'com.apple.security.cs.disable-library-validation.'
  ],
  [
    /Symbol not found|Library not loaded/,
    () =>
      'This macOS, or the program that loads the file, lacks something that it needs. It runs on macOS 11 and newer, in Node.js 20.19 and ' +
      'newer.'
  ],
  [
    /^Module not found|specified module could not be found/m,
    () => 'Windows lacks a DLL that it needs. It runs on Windows 10 and Windows Server 2016, and newer ones.'
  ],
  [
    /invalid ELF header|wrong ELF class|Exec format error|not a valid Win32 application|not a mach-o|not valid mach-o|compatible architecture|mach-o, but wrong|file too short|cannot open shared object file/i,
    ({ platform, arch }) =>
      `The file is damaged, or was built for another platform than ${platform} on ${arch}: remove node_modules and install terrace again, ` +
      'with the Node that is to run it. A node_modules directory cannot be copied between systems or processors.'
  ]
]

function advice(runtime: Runtime, { message }: Failure): string {
  for (const [pattern, text] of ADVICE) {
    const match = pattern.exec(message)
    if (match) return text(runtime, match)
  }
  return 'Remove node_modules and install terrace again, with the Node that is to run it.'
}
