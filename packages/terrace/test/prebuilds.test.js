// The builds of the addon for other platforms, as far as they are here: what each needs from the system that loads it, and that the
// lists of platforms agree. `make prebuilds` makes them all.

import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { manifestFile, manifestText, NATIVE_PACKAGES } from '../../../scripts/manifests.mjs'
import { complaints } from '../../../scripts/prebuilds/complaints.mjs'
import { compareVersions, inspect } from '../../../scripts/prebuilds/inspect.mjs'
import { expectedOfAddon } from '../../../scripts/prebuilds/products.mjs'
import { brokenSignature } from '../../../scripts/prebuilds/signature.mjs'
import { isTooLarge, sizeOf } from '../../../scripts/prebuilds/sizes.mjs'
import { BUILDS } from '../dist/platform.js'
import { addonFile } from '../scripts/cargo-build.mjs'
import { platformName } from '../scripts/platform.mjs'
import { PLATFORMS } from '../scripts/platforms.mjs'

const names = Object.keys(PLATFORMS)
const hasReader = spawnSync('llvm-readobj', ['--version']).status === 0
const reason = (name) => {
  if (!hasReader) return 'llvm-readobj is missing: scripts/setup prebuilds'
  // That of this machine is the checkout's own, made with this machine's linker and its glibc.
  if (name === platformName() && !isPublished(name)) return 'it was built for this machine only'
  return !existsSync(addonFile(name)) && `not built: make prebuilds WHAT=addon PLATFORMS=${name}`
}

/** Whether the file that the loader finds is one that `make prebuilds` made: it then needs no newer glibc than the list says. */
function isPublished(name) {
  if (!existsSync(addonFile(name))) return false
  const { glibc = '0' } = PLATFORMS[name]
  return inspect(addonFile(name)).glibc.every((version) => compareVersions(version, glibc) <= 0)
}

for (const name of names) {
  test(`the build for ${name} needs only what every such system has`, { skip: reason(name) }, () => {
    const [platform, file] = [PLATFORMS[name], addonFile(name)]
    assert.deepEqual(complaints(platform, inspect(file), expectedOfAddon(platform)), [])
    assert.equal(isTooLarge(sizeOf({ binary: file, result: file }), 'addon'), false)
  })
}

// Node for musl needs a newer one than some systems have, so a small program stands in for it.
const muslReason =
  spawnSync('musl-gcc', ['--version']).status === 0 ? false : 'no musl-gcc: scripts/setup platforms'

test('a program of musl loads the build for it, and not the one for glibc', {
  skip: process.arch !== 'x64' ? 'not on this processor' : muslReason || reason('linux-x64-musl')
}, (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'terrace-musl-'))
  t.after(() => rmSync(directory, { recursive: true }))
  writeFileSync(
    join(directory, 'load.c'),
    `#include <dlfcn.h>
     #include <stdio.h>
     int main(int count, char **arguments) {
       void *addon = dlopen(arguments[1], RTLD_NOW);
       if (!addon) return puts(dlerror()), 1;
       return puts(dlsym(addon, "napi_register_module_v1") ? "loaded" : "no entry"), 0;
     }`
  )
  execFileSync('musl-gcc', ['-o', 'load', 'load.c'], { cwd: directory })
  const load = (name) => spawnSync('./load', [addonFile(name)], { cwd: directory, encoding: 'utf8' }).stdout
  assert.equal(load('linux-x64-musl'), 'loaded\n')
  assert.match(load('linux-x64-gnu'), /shared library|symbol not found/)
})

test('what a build should not need is found', () => {
  const good = {
    format: 'elf64-x86-64',
    arch: 'x86_64',
    libraries: ['libc.so.6', 'libm.so.6', 'ld-linux-x86-64.so.2'],
    exports: ['napi_register_module_v1', 'node_api_module_get_api_version_v1'],
    glibc: ['2.2.5', '2.4', '2.17']
  }
  const gnu = PLATFORMS['linux-x64-gnu']
  const wrong = (platform, change, expected = expectedOfAddon(platform)) =>
    complaints(platform, { ...good, ...change }, expected).join('; ')
  assert.equal(wrong(gnu, {}), '')
  assert.match(wrong(gnu, { glibc: ['2.2.5', '2.18'] }), /symbols of glibc 2\.18/)
  assert.match(wrong(gnu, { libraries: ['libc.so.6', 'libgcc_s.so.1'] }), /needs libgcc_s/)
  assert.match(wrong(gnu, { libraries: ['libc.so'] }), /needs libc\.so/)
  assert.match(wrong(gnu, { libraries: [] }), /names no library/)
  assert.match(wrong(gnu, { exports: ['napi_module_register'] }), /does not export/)
  assert.match(
    wrong(gnu, { exports: ['napi_register_module_v1'] }),
    /not export node_api_module_get_api_version_v1$/
  )
  assert.match(wrong(gnu, { exports: [...good.exports, 'ZSTD_compress'] }), /exports more: ZSTD_compress$/)
  assert.match(wrong(gnu, {}, { exports: [], exportsMore: true, isStatic: true }), /needs libc\.so\.6, /)
  assert.match(
    wrong(gnu, {}, { exports: good.exports, id: 'libterrace.so.0' }),
    /named undefined, not libterrace/
  )
  assert.match(wrong(PLATFORMS['linux-arm64-gnu'], {}), /for x86_64, not aarch64/)
  assert.match(wrong(PLATFORMS['linux-x64-musl'], {}), /needs libc\.so\.6.*needs symbols of glibc/)
  assert.match(wrong(PLATFORMS['win32-x64'], {}), /elf64-x86-64, not COFF/)
  const mac = {
    format: 'Mach-O 64-bit x86-64',
    id: '@rpath/terrace.node',
    libraries: ['/usr/lib/libSystem.B.dylib'],
    glibc: [],
    macos: '11.0'
  }
  assert.equal(wrong(PLATFORMS['darwin-x64'], mac), '')
  assert.match(wrong(PLATFORMS['darwin-x64'], { ...mac, macos: '15.0' }), /macOS 15\.0/)
  assert.match(
    wrong(PLATFORMS['darwin-x64'], { ...mac, id: 'libterrace_node.dylib' }),
    /named libterrace_node/
  )
  assert.match(wrong(PLATFORMS['darwin-x64'], { ...mac, libraries: ['@rpath/libunwind.dylib'] }), /@rpath/)
  assert.match(wrong(PLATFORMS['darwin-x64'], { ...mac, loose: ['iconv'] }), /no library for iconv$/)
})

for (const name of ['darwin-x64', 'darwin-arm64']) {
  test(`the signature of ${name} fits, and a changed byte is noticed`, { skip: reason(name) }, () => {
    const bytes = readFileSync(addonFile(name))
    assert.deepEqual(brokenSignature(bytes), [])
    bytes[bytes.length >> 1] ^= 1
    const complaint = brokenSignature(bytes)
    if (name === 'darwin-arm64') assert.match(complaint[0], /does not fit 1 of its pages/)
  })
}

test('the lists of platforms agree: the loader, the packages, the builds', () => {
  assert.deepEqual([...BUILDS].sort(), [...names].sort())
  for (const directory of NATIVE_PACKAGES) {
    const there = readdirSync(new URL(`../../${directory}/npm/`, import.meta.url))
    assert.deepEqual(there.sort(), [...names].sort())
    for (const name of names) {
      const written = readFileSync(manifestFile(directory, name), 'utf8')
      assert.equal(written, manifestText(directory, name), 'node scripts/manifests.mjs')
    }
  }
})

test('versions are compared by numbers', () => {
  assert.deepEqual(['2.28', '2.4', '2.17', '2.2.5'].sort(compareVersions), ['2.2.5', '2.4', '2.17', '2.28'])
})
